type Rights = { readonly mode: number; readonly uid: number; readonly gid: number };

/** What is said of a secret file that others can read or change, and what to do; undefined where none can. */
export function sharedWarning(path: string, found: Rights): string | undefined {
  return isShared(found, { uid: process.geteuid?.(), gid: process.getegid?.() })
    ? `${path} can be read or changed by other users of this machine: run "chmod 600 ${path}".`
    : undefined;
}

/**
 * Whether other users than this process's own may read or change a file with these rights. What root gives
 * to our group to read, as clusters mount a secret, is shared with nobody else.
 */
export function isShared(
  file: Rights,
  we: { readonly uid: number | undefined; readonly gid: number | undefined },
): boolean {
  const givenByRoot = file.uid === 0 && we.uid !== 0 && file.gid === we.gid;
  return (file.mode & (givenByRoot ? 0o037 : 0o077)) !== 0;
}
