// SPDX-License-Identifier: MPL-2.0

// Draws the pictures of the desktop from apps/desktop/images in every size that is needed: for the window and the tray into its dist/images,
// for packages (png, ico, icns) into its dist/icons.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';

const desktop = fileURLToPath(new URL('../apps/desktop/', import.meta.url));

const ICON_SIZES = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
const ICO_SIZES = [16, 24, 32, 48, 64, 128, 256];
/** Apple's names of sizes; those that end an `@2x` pair are left to the larger ones. */
const ICNS_TYPES = {
  ic04: 16,
  ic05: 32,
  ic07: 128,
  ic08: 256,
  ic09: 512,
  ic10: 1024,
  ic11: 32,
  ic12: 64,
  ic13: 256,
  ic14: 512,
};

/** macOS ignores the colours of a template. */
const TRAY_KINDS = {
  template: { size: 18, INK: '#000000', DOT: '#000000', GROUND: 'none' },
  light: { size: 16, INK: '#1c211f', DOT: '#a8321f', GROUND: 'none' },
  dark: { size: 16, INK: '#ffffff', DOT: '#ff8a70', GROUND: 'none' },
  outlined: { size: 24, INK: '#ffffff', DOT: '#ff8a70', GROUND: '#1c211f' },
};
const STEPS = 8;
const [TOP, BOTTOM] = [2, 21.1]; // of the drop

const TRAY_STATES = {
  idle: ['ground', 'full'],
  asking: ['ground', 'full', 'gap', 'dot'],
  paused: ['ground', 'frame', 'bars'],
  lost: ['ground', 'frame', 'cross'],
  ...Object.fromEntries(Array.from({ length: STEPS + 1 }, (_, i) => [`progress-${i}`, ['ground', 'frame', 'level']])),
};

function png(svg, size) {
  return new Resvg(svg, { fitTo: { mode: 'width', value: size } }).render().asPng();
}

/** Several PNG files as one icon of Windows: a directory, then the files. */
function ico(files) {
  const head = Buffer.alloc(6 + 16 * files.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(files.length, 4);
  let offset = head.length;
  for (const [i, { size, data }] of files.entries()) {
    const at = 6 + 16 * i;
    head.writeUInt8(size % 256, at); // 256 is written as 0
    head.writeUInt8(size % 256, at + 1);
    head.writeUInt16LE(1, at + 4);
    head.writeUInt16LE(32, at + 6);
    head.writeUInt32LE(data.length, at + 8);
    head.writeUInt32LE(offset, at + 12);
    offset += data.length;
  }
  return Buffer.concat([head, ...files.map(({ data }) => data)]);
}

/** The same for macOS: each with its type and length before it. */
function icns(files) {
  const parts = files.map(({ type, data }) => Buffer.concat([Buffer.from(type), lengthOf(8 + data.length), data]));
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from('icns'), lengthOf(8 + body.length), body]);
}

function lengthOf(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}

/** The picture of a state: its parts alone, in the colours of a kind. */
function traySvg(source, parts, colours, level) {
  let svg = source;
  for (const [word, colour] of Object.entries(colours)) svg = svg.replaceAll(word, colour);
  svg = svg.replace('LEVEL', String(BOTTOM - (BOTTOM - TOP) * level));
  return svg.replace(/<\w+ data-part="(\w+)"[^>]*\/>/g, (part, name) => (parts.includes(name) ? part : ''));
}

async function drawIcons(into, images) {
  const source = await readFile(`${desktop}images/icon.svg`, 'utf8');
  const bySize = new Map(ICON_SIZES.map((size) => [size, png(source, size)]));
  for (const [size, data] of bySize) await writeFile(`${into}/${size}x${size}.png`, data);
  await writeFile(`${into}/icon.ico`, ico(ICO_SIZES.map((size) => ({ size, data: bySize.get(size) }))));
  const types = Object.entries(ICNS_TYPES).map(([type, size]) => ({ type, data: bySize.get(size) }));
  await writeFile(`${into}/icon.icns`, icns(types));
  await writeFile(`${images}/icon-256.png`, bySize.get(256));
}

async function drawTray(images) {
  const source = await readFile(`${desktop}images/tray.svg`, 'utf8');
  for (const [kind, { size, ...colours }] of Object.entries(TRAY_KINDS)) {
    for (const [state, parts] of Object.entries(TRAY_STATES)) {
      const level = Number(/^progress-(\d+)$/.exec(state)?.[1] ?? 0) / STEPS;
      const svg = traySvg(source, parts, colours, level);
      await writeFile(`${images}/tray-${state}-${kind}.png`, png(svg, size));
      await writeFile(`${images}/tray-${state}-${kind}@2x.png`, png(svg, 2 * size));
    }
  }
}

const [images, icons] = [`${desktop}dist/images`, `${desktop}dist/icons`];
for (const folder of [images, icons]) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}
await Promise.all([drawIcons(icons, images), drawTray(images)]);
