import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A file as it is sent; `etag` and `integrity` are made of its bytes. */
export type SdkFile = {
  readonly name: string;
  readonly bytes: Buffer;
  readonly integrity: string;
  readonly etag: string;
};

/** One version of what shops install: npm's tarball, and the files in it that can be had alone. */
export type Release = {
  readonly version: string;
  readonly tarball: SdkFile;
  readonly files: ReadonlyMap<string, SdkFile>;
};

const FOLDER = new URL('../../../packages/sdk/releases/', import.meta.url);
const TARBALL = /^deposit-gateway-sdk-(\d+)\.(\d+)\.(\d+)\.tgz$/;
/** Sizes and checksums in a tar are octal text; a file's bytes fill whole blocks. */
const BLOCK = 512;

/**
 * Every version that was built, the newest first: a shop's lockfile names the URL of the one that it was
 * installed from, also after the gateway was upgraded. Throws where a tarball cannot be read.
 */
export function readReleases(folder: URL = FOLDER): readonly Release[] {
  const found = readdirSync(folder).flatMap((name) => {
    const parts = TARBALL.exec(name)?.slice(1).map(Number);
    return parts ? [{ name, parts }] : [];
  });
  found.sort((a, b) => {
    const at = a.parts.findIndex((part, index) => part !== b.parts[index]);
    return (b.parts[at] ?? 0) - (a.parts[at] ?? 0);
  });
  return found.map(({ name, parts }) => {
    const bytes = readFileSync(new URL(name, folder));
    const files = filesOf(gunzipSync(bytes)).map(
      (file) => [basename(file.path), sdkFile(basename(file.path), file.bytes)] as const,
    );
    return { version: parts.join('.'), tarball: sdkFile(name, bytes), files: new Map(files) };
  });
}

function sdkFile(name: string, bytes: Buffer): SdkFile {
  const hash = createHash('sha512').update(bytes).digest();
  return {
    name,
    bytes,
    integrity: `sha512-${hash.toString('base64')}`,
    etag: `"${hash.toString('base64url').slice(0, 32)}"`,
  };
}

/** The files of a tar as npm packs it: plain names, no links, nothing beside the package. */
function filesOf(tar: Buffer): { path: string; bytes: Buffer }[] {
  const files: { path: string; bytes: Buffer }[] = [];
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const text = (from: number, length: number): string =>
      tar.toString('utf8', at + from, at + from + length).split('\0', 1)[0] ?? '';
    const size = Number.parseInt(text(124, 12), 8);
    if (text(257, 6) !== 'ustar' || text(156, 1) !== '0' || !Number.isInteger(size))
      throw new Error(`a tarball of the SDK holds something else than files: ${text(0, 100)}`);
    files.push({ path: text(0, 100), bytes: tar.subarray(at + BLOCK, at + BLOCK + size) });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
