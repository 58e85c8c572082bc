/** What every benchmark shares: the machine, the median, and one JSON file a question in `benchmarks/results/`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join, resolve } from 'node:path'

export const BENCHMARKS = resolve(import.meta.dirname, '..')

export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
  readonly runs: number
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const median =
    sorted.length % 2 === 1 ? at(sorted, Math.floor(middle)) : (at(sorted, middle - 1) + at(sorted, middle)) / 2
  return { median, least: at(sorted, 0), most: at(sorted, sorted.length - 1), runs: sorted.length }
}

function at(values: readonly number[], index: number): number {
  const value = values[index]
  if (value === undefined) throw new Error('a benchmark made no runs')
  return value
}

export function machine(): Readonly<Record<string, unknown>> {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: loadavg()[0]?.toFixed(1),
    node: process.version,
    commit: git('rev-parse', '--short', 'HEAD') ?? 'unknown',
    // Figures of a tree with changes belong to no commit. Results of earlier benchmarks are none.
    dirty: (git('status', '--porcelain', '--', ':/', ':(exclude,top)benchmarks/results') ?? '') !== '',
    date: new Date().toISOString().slice(0, 10),
  }
}

/** Undefined outside a checkout. */
function git(...parameters: readonly string[]): string | undefined {
  try {
    return execFileSync('git', parameters, {
      cwd: BENCHMARKS,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}

/** Writes `benchmarks/results/<name>.json` and prints it. */
export function writeResult(name: string, command: string, result: Readonly<Record<string, unknown>>): void {
  const folder = join(BENCHMARKS, 'results')
  mkdirSync(folder, { recursive: true })
  const text = `${JSON.stringify({ benchmark: name, command, machine: machine(), ...result }, null, 2)}\n`
  writeFileSync(join(folder, `${name}.json`), text)
  process.stdout.write(text)
}

/** Resident memory of a process in bytes, as the kernel counts it. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  if (match?.[1] === undefined) throw new Error(`no memory figure for process ${pid}`)
  return Number(match[1]) * 1024
}

/** Processor seconds a process has used so far (user and system). */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
