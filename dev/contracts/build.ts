import { writeFileSync } from 'node:fs';
import { ARTIFACTS_FILE, artifactsText, compileContracts } from './compile.ts';

// `npm run contracts`: compiles the Solidity sources of this folder.
// The result is committed, so that running needs no compiler.
const artifacts = compileContracts();
writeFileSync(ARTIFACTS_FILE, artifactsText(artifacts));
console.log(`${Object.keys(artifacts).join(', ')} compiled to ${ARTIFACTS_FILE}`);
