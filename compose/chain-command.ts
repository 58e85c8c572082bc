/** `npm start -- chain …`: rule chains as code. Only `shadow`, `replay` and `versions` ask a running Millrace. */
import { watch, type FSWatcher } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { defineErrors, errorText } from '../model/errors.ts'
import { CHAIN_TRIAL_USAGE, chainTrial } from '../commands/chain-trial.ts'
import { CHAIN_VERSIONS_USAGE, chainVersions } from '../commands/chain-versions.ts'
import { parseCases } from '../workbench/cases.ts'
import { readChainFile, type DrawnChain } from '../workbench/chain-file.ts'
import { checkChain, findingText } from '../services/rule-chains/check.ts'
import { differenceLines, diffChains } from '../services/rule-chains/diff.ts'
import { incomingFrom } from '../services/rule-chains/incoming.ts'
import { runCases, tryNode } from '../workbench/run-cases.ts'
import { openWorkshop, type Workshop } from './workshop.ts'

export const CHAIN_USAGE = `chain check FILE...       what is wrong with exported rule chains: every finding with its node; code 1 where one does not run
  --strict               warnings count too
chain test FILE          runs a rule chain on given messages, in a world and on a clock of their own: nothing is stored or sent
  --cases FILE           the cases, YAML (default: FILE with .cases.yaml in the place of .json)
  --only TEXT            cases whose name holds TEXT
  --least PERCENT        code 1 where fewer of the nodes and connections were taken
  --watch                again whenever one of both files changes
chain diff FILE FILE     where two versions differ, layout aside: code 1 where they do
${CHAIN_TRIAL_USAGE}${CHAIN_VERSIONS_USAGE}`

/** An editor writes a file in several steps. */
const SAVES_MS = 50

const ChainCommandErrors = defineErrors('chain-command', {
  USAGE: { kind: 'invalid', status: 400, text: '{reason}' },
})

interface Output {
  out(line: string): void
  error(line: string): void
}

const TERMINAL: Output = {
  out: (line) => void process.stdout.write(`${line}\n`),
  error: (line) => void process.stderr.write(`${line}\n`),
}

type Flags = Readonly<Record<string, string | boolean | undefined>>

interface Action {
  readonly options: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>
  readonly files: { readonly least: number; readonly most: number }
  /** Resolves with the exit code. */
  readonly run: (files: readonly string[], flags: Flags, output: Output) => Promise<number>
}

const ACTIONS: Readonly<Record<string, Action>> = {
  check: { options: { strict: { type: 'boolean' } }, files: { least: 1, most: Infinity }, run: check },
  test: {
    options: {
      cases: { type: 'string' },
      only: { type: 'string' },
      least: { type: 'string' },
      watch: { type: 'boolean' },
    },
    files: { least: 1, most: 1 },
    run: testChain,
  },
  diff: { options: {}, files: { least: 2, most: 2 }, run: diff },
}

/** Resolves with the exit code: 0 where all is well, 1 where something was found, 2 for a wrong use. */
export async function chainCommand(argv: readonly string[], output: Output = TERMINAL): Promise<number> {
  const [name = '', ...rest] = argv
  if (name === 'shadow' || name === 'replay') return chainTrial(name, rest, output)
  if (name === 'versions') return chainVersions(rest, output)
  const action = ACTIONS[name]
  if (name === '--help' || rest.includes('--help')) {
    output.out(CHAIN_USAGE.trimEnd())
    return 0
  }
  try {
    if (action === undefined) throw ChainCommandErrors.USAGE({ reason: `${unknownAction(name)}\n\n${CHAIN_USAGE}` })
    const { values, positionals } = argumentsOf(name, action, rest)
    return await action.run(positionals, values, output)
  } catch (error) {
    output.error(errorText(error))
    return 2
  }
}

function unknownAction(name: string): string {
  const known = [...Object.keys(ACTIONS), 'shadow', 'replay', 'versions'].join(', ')
  return name === '' ? `say what to do: chain ${known}` : `chain has no '${name}': it has ${known}`
}

function argumentsOf(name: string, { options, files }: Action, argv: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...argv], allowPositionals: true, options: { ...options } })
    const count = parsed.positionals.length
    if (count >= files.least && count <= files.most) return parsed
  } catch (error) {
    throw ChainCommandErrors.USAGE({ reason: `${errorText(error)}\n\n${CHAIN_USAGE}` }, error)
  }
  const wanted = files.most === Infinity ? 'at least one FILE' : files.most === 1 ? 'one FILE' : `${files.most} FILEs`
  throw ChainCommandErrors.USAGE({ reason: `chain ${name} takes ${wanted}\n\n${CHAIN_USAGE}` })
}

async function check(files: readonly string[], flags: Flags, output: Output): Promise<number> {
  const workshop = await openWorkshop()
  try {
    let isRefused = false
    const chains: DrawnChain[] = []
    for (const file of files) chains.push(await readChainFile(file))
    for (const [index, chain] of chains.entries()) {
      const checked = { file: files[index] ?? '', chain, others: chains.filter((other) => other !== chain) }
      isRefused = !(await checkFile(checked, flags['strict'] === true, workshop, output)) || isRefused
    }
    return isRefused ? 1 : 0
  } finally {
    await workshop.close()
  }
}

interface CheckedFile {
  readonly file: string
  readonly chain: DrawnChain
  /** Of the other files: what they lead to it says what comes into it. */
  readonly others: readonly DrawnChain[]
}

async function checkFile(
  { file, chain, others }: CheckedFile,
  isStrict: boolean,
  workshop: Workshop,
  output: Output,
): Promise<boolean> {
  const { catalogue } = workshop
  const findings = await checkChain(chain, {
    catalogue,
    tryNode: (node) => tryNode(node, workshop),
    incoming: chain.root === true || chain.id === undefined ? undefined : incomingFrom(others, chain.id, catalogue),
  })
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  output.out(`${file}: '${chain.name}', ${chain.nodes.length} nodes, ${chain.connections.length} connections`)
  for (const finding of findings) output.out(`  ${findingText(chain, finding)}`)
  output.out(`  ${errors} errors, ${warnings} warnings`)
  return errors === 0 && !(isStrict && warnings > 0)
}

async function testChain([file = '']: readonly string[], flags: Flags, output: Output): Promise<number> {
  const casesFile = typeof flags['cases'] === 'string' ? flags['cases'] : file.replace(/(\.json)?$/, '.cases.yaml')
  const workshop = await openWorkshop()
  let saves: Saves | undefined
  try {
    // From before the first run on: what is saved while it goes on is the next one.
    if (flags['watch'] === true) saves = savesOf([file, casesFile])
    let code = await testOnce(file, casesFile, flags, workshop, output)
    // For as long as the terminal lets it: each save of either file is a run.
    while (saves !== undefined) {
      await saves.next()
      output.out('')
      code = await testOnce(file, casesFile, flags, workshop, output).catch((error: unknown) => {
        output.error(errorText(error))
        return 1
      })
    }
    return code
  } finally {
    saves?.close()
    await workshop.close()
  }
}

async function testOnce(
  file: string,
  casesFile: string,
  flags: Flags,
  workshop: Workshop,
  output: Output,
): Promise<number> {
  const chain = await readChainFile(file)
  const wanted = typeof flags['only'] === 'string' ? flags['only'] : ''
  const all = parseCases(await readText(casesFile), casesFile)
  const cases = all.cases.filter(({ name }) => name.includes(wanted))
  const { results, coverage } = await runCases(chain, { ...all, cases }, workshop)
  for (const { name, complaints } of results) {
    output.out(`${complaints.length === 0 ? '✔' : '✖'} ${name}`)
    for (const complaint of complaints) output.out(`    ${complaint}`)
  }
  const failed = results.filter(({ complaints }) => complaints.length > 0).length
  output.out(`${results.length - failed} passed, ${failed} failed`)
  for (const line of coverage.lines()) output.out(line)
  return failed === 0 && coverage.percent >= leastOf(flags) ? 0 : 1
}

function leastOf({ least }: Flags): number {
  if (least === undefined) return 0
  const percent = Number(least)
  if (percent >= 0 && percent <= 100) return percent
  throw ChainCommandErrors.USAGE({ reason: `--least ${String(least)}: 0 to 100 is expected` })
}

/** Throws `USAGE`. */
async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw ChainCommandErrors.USAGE({ reason: `cannot read ${file}: ${errorText(error)}` }, error)
  }
}

interface Saves {
  /** Resolves when there was one since the last call. */
  next(): Promise<void>
  close(): void
}

/** Several saves close together are one. Folders are watched, since editors replace files. Throws `USAGE`, and watches nothing then. */
function savesOf(files: readonly string[]): Saves {
  let wake: () => void = () => undefined
  let hasChanged = false
  const names = new Set(files.map((file) => basename(file)))
  const watchers: FSWatcher[] = []
  const close = (): void => {
    for (const watcher of watchers) watcher.close()
  }
  const heard = (_event: string, name: string | null): void => {
    if (name === null || !names.has(name)) return
    hasChanged = true
    wake()
  }
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    try {
      watchers.push(watch(folder, heard))
    } catch (error) {
      close()
      throw ChainCommandErrors.USAGE({ reason: `cannot watch ${folder}: ${errorText(error)}` }, error)
    }
  }
  return {
    close,
    next: async () => {
      while (!hasChanged) await new Promise<void>((resolve) => (wake = resolve))
      await delay(SAVES_MS)
      hasChanged = false
    },
  }
}

async function diff([before = '', after = '']: readonly string[], _flags: Flags, output: Output): Promise<number> {
  const differences = diffChains(await readChainFile(before), await readChainFile(after))
  for (const line of differences.flatMap(differenceLines)) output.out(line)
  if (differences.length === 0) output.out('no difference')
  return differences.length === 0 ? 0 : 1
}
