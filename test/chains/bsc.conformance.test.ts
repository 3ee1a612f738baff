import { bscStage } from './bsc-stage.ts';
import { itConforms } from './conformance.ts';

itConforms('BNB Chain', bscStage);
