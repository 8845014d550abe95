// SPDX-License-Identifier: MPL-2.0

// fuse-native-folder.cjs INSTALLED FOLDER AT [big]: mounts a folder of this machine by fuse-native, for comparison.
// `big` allows reads of up to 1 MiB, which fuse-native does not do by default. Ends when it is unmounted.
'use strict';
const fs = require('node:fs');
const { join } = require('node:path');

const [installed, folder, at, big] = process.argv.slice(2);
const Fuse = require(require.resolve('fuse-native', { paths: [installed] }));
const LOOK_MS = 100;

const real = (path) => join(folder, path);
const answer = (done) => (error, value) => (error ? done(Fuse[error.code] ?? -5) : done(0, value));

const operations = {
  readdir: (path, done) => fs.readdir(real(path), answer(done)),
  getattr: (path, done) => fs.lstat(real(path), answer(done)),
  open: (path, flags, done) => fs.open(real(path), flags, answer(done)),
  create: (path, mode, done) => fs.open(real(path), 'w+', mode, answer(done)),
  release: (_path, file, done) => fs.close(file, answer(done)),
  read: (_path, file, buffer, length, offset, done) =>
    fs.read(file, buffer, 0, length, offset, (error, bytes) => done(error ? -5 : bytes)),
  write: (_path, file, buffer, length, offset, done) =>
    fs.write(file, buffer, 0, length, offset, (error, bytes) => done(error ? -5 : bytes)),
  truncate: (path, bytes, done) => fs.truncate(real(path), bytes, answer(done)),
  unlink: (path, done) => fs.unlink(real(path), answer(done)),
  mkdir: (path, mode, done) => fs.mkdir(real(path), mode, answer(done)),
  rmdir: (path, done) => fs.rmdir(real(path), answer(done)),
  rename: (from, to, done) => fs.rename(real(from), real(to), answer(done)),
  link: (from, to, done) => fs.link(real(from), real(to), answer(done)),
  symlink: (target, path, done) => fs.symlink(target, real(path), answer(done)),
  readlink: (path, done) => fs.readlink(real(path), answer(done)),
  chmod: (path, mode, done) => fs.chmod(real(path), mode, answer(done)),
  utimens: (path, atime, mtime, done) => fs.utimes(real(path), new Date(atime), new Date(mtime), answer(done)),
  fsync: (_path, _dataOnly, file, done) => fs.fsync(file, answer(done)),
};

const fuse = new Fuse(at, operations, { force: true, ...(big && { maxRead: 2 ** 20 }) });
fuse.mount((error) => {
  if (error) throw error;
  const timer = setInterval(() => {
    if (fs.readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${at} `)) return;
    clearInterval(timer);
    process.exit();
  }, LOOK_MS);
});
