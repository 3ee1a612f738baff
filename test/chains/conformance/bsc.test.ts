import { bscStage } from './bsc-stage.ts';
import { itConforms } from './suite.ts';

itConforms('BNB Chain', bscStage);
