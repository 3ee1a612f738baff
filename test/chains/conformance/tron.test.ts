import { itConforms } from './suite.ts';
import { tronStage } from './tron-stage.ts';

itConforms('Tron', tronStage);
