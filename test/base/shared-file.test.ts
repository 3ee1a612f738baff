import { expect } from 'chai';
import { isShared } from '../../src/base/shared-file.ts';

const WE = { uid: 1000, gid: 1000 };

describe('who else can read a secret file', () => {
  it('is nobody, where the file is ours alone, or root gave it to our group to read', () => {
    expect(isShared({ mode: 0o100600, uid: 1000, gid: 1000 }, WE)).to.equal(false);
    expect(isShared({ mode: 0o100440, uid: 0, gid: 1000 }, WE)).to.equal(false);
  });

  it('is somebody, where a group of others, everybody, or a writer besides us is let in', () => {
    for (const file of [
      { mode: 0o100640, uid: 1000, gid: 1000 },
      { mode: 0o100440, uid: 0, gid: 100 },
      { mode: 0o100460, uid: 0, gid: 1000 },
      { mode: 0o100444, uid: 0, gid: 1000 },
    ])
      expect(isShared(file, WE), file.mode.toString(8)).to.equal(true);
    expect(isShared({ mode: 0o100440, uid: 0, gid: 0 }, { uid: 0, gid: 0 })).to.equal(true);
  });
});
