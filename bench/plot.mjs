// SPDX-License-Identifier: MPL-2.0

// Draws a line chart as the text of an SVG file.

const WIDTH = 800;
const HEIGHT = 400;
const MARGIN = 60;
const COLOURS = ['#0969da', '#cf222e', '#1a7f37', '#8250df'];

/**
 * @param options.lines  `{ name, points: [x, y][] }`, at most as many as there are colours
 */
export function plot({ title, x, y, lines }) {
  const points = lines.flatMap((line) => line.points);
  const right = Math.max(...points.map(([at]) => at));
  const top = niceCeiling(Math.max(...points.map(([, value]) => value)));
  const place = ([at, value]) => [
    MARGIN + (at / right) * (WIDTH - 2 * MARGIN),
    HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN),
  ];
  const text = (at, content, anchor = 'middle', more = '') => {
    const [left, down] = at.map((value) => value.toFixed(1));
    return `<text x="${left}" y="${down}" text-anchor="${anchor}"${more}>${content}</text>`;
  };
  const parts = [text([WIDTH / 2, MARGIN / 2], title, 'middle', ' font-weight="bold"')];
  for (let i = 0; i <= 4; i++) {
    const [left, down] = place([0, (top * i) / 4]);
    parts.push(`<path d="M${left} ${down}H${WIDTH - MARGIN}" stroke="#d0d7de"/>`);
    parts.push(text([left - 8, down + 4], (top * i) / 4, 'end'));
    const [along] = place([(right * i) / 4, 0]);
    parts.push(text([along, HEIGHT - MARGIN + 20], Math.round((right * i) / 4)));
  }
  parts.push(text([WIDTH / 2, HEIGHT - 12], x), text([8, MARGIN - 12], y, 'start'));
  lines.forEach(({ name, points: own }, i) => {
    const path = own
      .map((point) =>
        place(point)
          .map((value) => value.toFixed(1))
          .join(' '),
      )
      .join('L');
    parts.push(`<path d="M${path}" fill="none" stroke="${COLOURS[i]}" stroke-width="2"/>`);
    parts.push(text([WIDTH - MARGIN, HEIGHT - MARGIN - 12 - 18 * i], name, 'end', ` fill="${COLOURS[i]}"`));
  });
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="13">`;
  return `${head}\n<title>${title}</title>\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`;
}

/** The next 1, 2, 4 or 8 times a power of ten above `value`. */
function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 8].find((factor) => factor * power >= value) ?? 10) * power;
}
