/** Panels of curves on logarithmic axes as one SVG text. */

export interface Curve {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Panel {
  readonly title: string
  readonly xTitle: string
  readonly curves: readonly Curve[]
}

const WIDTH = 460
const HEIGHT = 300
const MARGIN = { left: 64, right: 96, top: 40, bottom: 44 }
const COLUMNS = 2
/** Told apart by lightness too, for who sees no hue. */
const COLOURS = ['#1f5fa8', '#c8741a', '#3d7a4a']

export function svgOf(panels: readonly Panel[], caption: string): string {
  const rows = Math.ceil(panels.length / COLUMNS)
  const [width, height] = [WIDTH * COLUMNS, HEIGHT * rows + 28]
  const drawn = panels.map((panel, index) => {
    const [x, y] = [(index % COLUMNS) * WIDTH, Math.floor(index / COLUMNS) * HEIGHT]
    return `<g transform="translate(${x} ${y})">\n${panelOf(panel)}\n</g>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11" fill="#333">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...drawn,
    `<text x="${MARGIN.left}" y="${height - 10}" fill="#666">${escaped(caption)}</text>`,
    '</svg>\n',
  ].join('\n')
}

function panelOf({ title, xTitle, curves }: Panel): string {
  const points = curves.flatMap((curve) => curve.points)
  const x = scale(
    points.map(([value]) => value),
    MARGIN.left,
    WIDTH - MARGIN.right,
    2,
  )
  const y = scale(
    points.map(([, value]) => value),
    HEIGHT - MARGIN.bottom,
    MARGIN.top,
    10,
  )
  const bottom = HEIGHT - MARGIN.bottom
  const xTicks = [...new Set(points.map(([value]) => value))]
  return [
    `<text x="${MARGIN.left}" y="22" font-size="13" font-weight="600">${escaped(title)}</text>`,
    ...y.ticks.map(
      (tick) =>
        `<path d="M${MARGIN.left} ${y.at(tick)}H${WIDTH - MARGIN.right}" stroke="#ddd"/>` +
        `<text x="${MARGIN.left - 8}" y="${y.at(tick) + 4}" text-anchor="end">${short(tick)}</text>`,
    ),
    ...xTicks.map((tick) => `<text x="${x.at(tick)}" y="${bottom + 16}" text-anchor="middle">${tick}</text>`),
    `<text x="${(MARGIN.left + WIDTH - MARGIN.right) / 2}" y="${bottom + 34}" text-anchor="middle" fill="#666">${escaped(xTitle)}</text>`,
    ...curves.map((curve, index) => curveOf(curve, COLOURS[index % COLOURS.length] ?? '#333', x.at, y.at)),
  ].join('\n')
}

function curveOf({ name, points }: Curve, colour: string, x: At, y: At): string {
  const path = points.map(([px, py], index) => `${index === 0 ? 'M' : 'L'}${x(px)} ${y(py)}`).join('')
  const last = points.at(-1)
  if (last === undefined) return ''
  const dots = points.map(([px, py]) => `<circle cx="${x(px)}" cy="${y(py)}" r="3" fill="${colour}"/>`).join('')
  return (
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}` +
    `<text x="${x(last[0]) + 8}" y="${y(last[1]) + 4}" fill="${colour}">${escaped(name)}</text>`
  )
}

type At = (value: number) => number

/** A logarithmic axis from whole power to whole power of `base`, or of ten where the values span less. */
function scale(
  values: readonly number[],
  from: number,
  to: number,
  base: number,
): { at: At; ticks: readonly number[] } {
  const log = (value: number): number => Math.log(value) / Math.log(base)
  const least = base === 10 ? Math.floor(log(Math.min(...values))) : log(Math.min(...values))
  const most = base === 10 ? Math.max(least + 1, Math.ceil(log(Math.max(...values)))) : log(Math.max(...values))
  const at: At = (value) => Math.round((from + ((log(value) - least) / (most - least)) * (to - from)) * 10) / 10
  const ticks = Array.from({ length: Math.round(most - least) + 1 }, (_, index) => base ** (least + index))
  return { at, ticks }
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`
  if (value >= 1000) return `${value / 1000} k`
  return String(Number(value.toPrecision(3)))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
