/**
 * `benchmarks/results/index.html`: every result as plots on one page without scripts. A figure measured in several runs is a bar at its
 * median with a line from the least to the most; bars of one unit share a scale, so what was measured side by side is seen side by side.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BENCHMARKS, type Spread } from './lib/report.ts'

interface Figure {
  readonly labels: readonly string[]
  readonly unit: string
  readonly spread: Spread
}

interface Result {
  readonly benchmark: string
  readonly command?: string
  readonly machine?: Readonly<Record<string, unknown>>
}

const BAR_HEIGHT = 22
const LABEL_WIDTH = 430
const PLOT_WIDTH = 420
const VALUE_WIDTH = 170

/** Writes the page from what lies in `benchmarks/results/`. */
export function writePage(): void {
  const folder = join(BENCHMARKS, 'results')
  const results = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({
      benchmark: name.replace(/\.json$/, ''),
      ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Partial<Result>),
    }))
  writeFileSync(join(folder, 'index.html'), pageOf(results))
}

export function pageOf(results: readonly Result[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Millrace benchmarks</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 1060px; margin: 2rem auto; padding: 0 1rem; color: #1d2733; background: #fff }
  h2 { margin: 2.5rem 0 0 } h3 { font-size: 1rem; margin: 1rem 0 0 } code { background: #eef1f4; padding: .1em .3em }
  .machine { color: #5c6b7a; font-size: .85rem } svg text { font: 13px system-ui, sans-serif; fill: #1d2733 }
  rect { fill: #3b7dd8 } .range { stroke: #12365f; stroke-width: 2 }
</style>
<h1>Millrace benchmarks</h1>
<p>Bars are medians, the line on a bar goes from the least to the most of the runs. Load generator and servers share the machine: believe
the ratios before the rates.</p>
${results.map(sectionOf).join('\n')}
</html>
`
}

function sectionOf(result: Result): string {
  const byUnit = new Map<string, Figure[]>()
  for (const figure of figuresIn(result, [])) {
    const group = byUnit.get(figure.unit)
    if (group === undefined) byUnit.set(figure.unit, [figure])
    else group.push(figure)
  }
  const { processor, cores, node, commit, date, load } = result.machine ?? {}
  const plots = [...byUnit].map(([unit, figures]) => `<h3>${text(spelled(unit))}</h3>\n${plotOf(figures)}`)
  return `<h2 id="${text(result.benchmark)}">${text(result.benchmark)}</h2>
<p class="machine"><code>${text(result.command ?? '')}</code><br>
${text([processor, `${String(cores)} cores`, `Node ${String(node)}`, `commit ${String(commit)}`, date, `load ${String(load)}`].join(' · '))}</p>
${plots.join('\n')}`
}

/** Every figure with a spread, wherever it stands; the name nearest to it is its unit. */
function figuresIn(value: unknown, path: readonly string[]): Figure[] {
  if (typeof value !== 'object' || value === null) return []
  const spread = spreadOf(value)
  if (spread !== undefined) return [{ labels: path.slice(0, -1), unit: path.at(-1) ?? '', spread }]
  return Object.entries(value).flatMap(([name, inner]) => figuresIn(inner, [...path, name]))
}

function spreadOf(value: object): Spread | undefined {
  const { median, least, most, lowest, highest, runs } = value as Partial<Record<string, unknown>>
  const [from, to] = [least ?? lowest, most ?? highest]
  if (typeof median !== 'number' || typeof from !== 'number' || typeof to !== 'number') return undefined
  return { median, least: from, most: to, runs: typeof runs === 'number' ? runs : 0 }
}

function plotOf(figures: readonly Figure[]): string {
  const longest = Math.max(...figures.map(({ spread }) => spread.most), Number.MIN_VALUE)
  const x = (value: number): number => LABEL_WIDTH + (Math.max(0, value) / longest) * PLOT_WIDTH
  const bars = figures.map(({ labels, spread }, index) => {
    const top = index * BAR_HEIGHT
    const label = labels.filter((name) => name !== 'results').join(', ')
    return `<text x="0" y="${top + 15}">${text(label)}</text>
<rect x="${LABEL_WIDTH}" y="${top + 4}" width="${(x(spread.median) - LABEL_WIDTH).toFixed(1)}" height="${BAR_HEIGHT - 8}"/>
<line class="range" x1="${x(spread.least).toFixed(1)}" x2="${x(spread.most).toFixed(1)}" y1="${top + 11}" y2="${top + 11}"/>
<text x="${LABEL_WIDTH + PLOT_WIDTH + 10}" y="${top + 15}">${readable(spread.median)}</text>`
  })
  const width = LABEL_WIDTH + PLOT_WIDTH + VALUE_WIDTH
  const height = figures.length * BAR_HEIGHT
  return `<svg viewBox="0 0 ${width} ${height}" width="100%" role="img">${bars.join('\n')}</svg>`
}

function readable(value: number): string {
  return new Intl.NumberFormat('en', { maximumSignificantDigits: value < 1000 ? 3 : 6 }).format(value)
}

/** `pointsPerSecond` as people write it. */
function spelled(name: string): string {
  const words = name
    .replace(/(MiB|Ms$|[A-Z])/g, ' $1')
    .trim()
    .split(/\s+/)
  return words.map((word) => (word === 'MiB' ? word : word.toLowerCase())).join(' ')
}

function text(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}

if (process.argv[1] === import.meta.filename) writePage()
