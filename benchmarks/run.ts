/**
 * `npm run bench`: every benchmark, one after the other, each writing its result to `benchmarks/results/`, and a page with
 * plots of all results. Names as arguments run
 * only those. Leave the machine alone meanwhile: what else runs is in every figure.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { BENCHMARKS } from './lib/report.ts'
import { writePage } from './page.ts'

const names = readdirSync(BENCHMARKS).filter((name) => existsSync(join(BENCHMARKS, name, 'run.ts')))
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no benchmark ${unknown.join(', ')}: there are ${names.join(', ')}\n`)
  process.exit(2)
}

/** These are asked of other shapes too, each into a result of its own. */
const OTHER_SHAPES: Readonly<Record<string, readonly string[]>> = {
  ingest: ['production', 'three-copies'],
  query: ['production'],
  subscription: ['production'],
}

const chosen = (wanted.length === 0 ? names : wanted).flatMap((name) => [
  [name],
  ...(OTHER_SHAPES[name] ?? []).map((shape) => [name, '--shape', shape]),
])
for (const [index, [name = '', ...options]] of chosen.entries()) {
  process.stderr.write(`[${index + 1}/${chosen.length}] ${[name, ...options].join(' ')}\n`)
  const script = join(BENCHMARKS, name, 'run.ts')
  const { status } = spawnSync(
    process.execPath,
    ['--no-node-snapshot', '--disable-warning=ExperimentalWarning', script, ...options],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  if (status === 0) continue
  process.stderr.write(`${name} failed (${status})\n`)
  process.exit(1)
}
writePage()
process.stderr.write('benchmarks/results/index.html shows them all\n')
