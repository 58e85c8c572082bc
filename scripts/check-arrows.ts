/**
 * Checks the arrows between folders with dependency-cruiser. A run that saw too few modules or no arrows between them is a
 * failure too: a compiler that the checker cannot read makes it see nothing and find nothing.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOMS = [
  'model',
  'config',
  'server',
  'logging',
  'disk',
  'engine',
  'storage',
  'services',
  'nodes',
  'transports',
  'workbench',
  'api',
  'clients',
  'commands',
  'compose',
  'main.ts',
]
const FEWEST_MODULES = 2

interface CruiseResult {
  readonly summary: {
    readonly totalCruised: number
    readonly totalDependenciesCruised: number
    readonly violations: readonly {
      readonly from: string
      readonly to: string
      readonly rule: { readonly name: string }
    }[]
  }
}

export interface ArrowsReport {
  readonly modules: number
  readonly arrows: number
  /** One line a finding; empty where all is well. */
  readonly findings: readonly string[]
}

/** Checks the project below `root` (by default this one). */
export function checkArrows(root: string = resolve(import.meta.dirname, '..')): ArrowsReport {
  const tool = resolve(import.meta.dirname, '..', 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs')
  const rooms = ROOMS.filter((room) => existsSync(join(root, room)))
  const rules = resolve(import.meta.dirname, '..', '.dependency-cruiser.cjs')
  const run = spawnSync(process.execPath, [tool, '--config', rules, '--output-type', 'json', ...rooms], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (!run.stdout.startsWith('{'))
    return { modules: 0, arrows: 0, findings: [`dependency-cruiser failed: ${run.stderr.trim()}`] }
  const { summary } = JSON.parse(run.stdout) as CruiseResult
  const findings = summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)
  const lying = rooms.reduce((count, room) => count + countModules(join(root, room)), 0)
  const expected = Math.max(FEWEST_MODULES, lying)
  if (summary.totalCruised < expected) {
    findings.push(`saw ${summary.totalCruised} modules where at least ${expected} lie: the check read nothing`)
  }
  if (summary.totalDependenciesCruised === 0) findings.push('saw no imports at all: the check read nothing')
  return { modules: summary.totalCruised, arrows: summary.totalDependenciesCruised, findings }
}

function countModules(path: string): number {
  if (path.endsWith('.ts')) return 1
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')).length
}

if (process.argv[1] === import.meta.filename) {
  const report = checkArrows()
  for (const finding of report.findings) process.stdout.write(`${finding}\n`)
  process.stdout.write(`${report.modules} modules, ${report.arrows} arrows, ${report.findings.length} findings\n`)
  process.exitCode = report.findings.length === 0 ? 0 : 1
}
