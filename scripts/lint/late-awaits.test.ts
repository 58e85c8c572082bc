import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import ts from 'typescript'
import { findLateAwaits } from './late-awaits.ts'

const GIVEN = `
declare function read(): Promise<number>
declare function soon(): Promise<number> | number
declare function rest(): Promise<void>
declare function use(promise: Promise<number>): void
declare function awaitedLater<V>(promise: Promise<V>): Promise<V>
declare const held: Map<string, Promise<number>>
declare const isAny: boolean
`

/** Name of the case · the body of an async function · what is found in it. */
const CASES: readonly (readonly [name: string, body: string, found: readonly string[]])[] = [
  ['a promise that is awaited behind another wait', 'const a = read(); await rest(); await a', ['a']],
  ['the second of two that are awaited in turn', 'const a = read(); const b = read(); await a; await b', ['b']],
  [
    'one that is awaited in a loop of waits',
    'let isDone = false; const a = read().finally(() => { isDone = true }); while (!isDone) await rest(); return a',
    ['a'],
  ],
  ['one that nobody awaits but a closure', 'const a = read(); return [1].map(async () => (await a) + 1)', ['a']],
  ['one that is only put away', "const a = read(); held.set('a', a); await rest(); return a", ['a']],
  ['one that may be there at once', 'const a = soon(); await rest(); await a', ['a']],
  ['one of two ways', 'const a = isAny ? read() : undefined; await rest(); await a', ['a']],
  ['one that is assigned later', 'let a: Promise<number> | undefined; a = read(); await rest(); await a', ['a']],
  ['a catch that throws again', 'const a = read().catch((error) => { throw error }); await rest(); await a', ['a']],
  ['a wait for each of a stream', 'const a = read(); for await (const _ of [rest()]) continue; await a', ['a']],
  ['no promise that is awaited at once', 'const a = read(); await a; await rest(); await a', []],
  ['no promises that are joined', 'const a = read(); const b = read(); await Promise.all([rest(), a, b])', []],
  ['no promise that is returned', 'await rest(); const a = read(); return a', []],
  ['no promise that is handed on', 'const a = read(); use(a); await rest(); await a', []],
  [
    'no promise that is put away for others',
    "held.set('a', read()); const a = read(); held.set('b', a); await rest()",
    [],
  ],
  [
    'no promise that a closure keeps',
    'let a: Promise<number> | undefined; const keep = () => { a ??= read() }; keep(); await a',
    [],
  ],
  ['no promise that was begun through awaitedLater', 'const a = awaitedLater(read()); await rest(); await a', []],
  ['no promise with a catch', 'const a = read().catch(() => 0); await rest(); await a', []],
  ['no promise with two listeners', 'const a = read().then(() => 1, () => 0); await rest(); await a', []],
  ['no promise that can not reject', 'const a = new Promise<void>((resolve) => resolve()); await rest(); await a', []],
  ['no value', 'const a = await read(); await rest(); use(Promise.resolve(a))', []],
]

const MEMBERS = `
class Reader {
  private readonly first = read()
  private readonly second: Promise<number>
  private third: Promise<number> | undefined
  private readonly fourth = read().catch(() => 0)
  constructor() {
    this.second = read()
  }
  begin(): void {
    this.third ??= read()
  }
  async get(): Promise<number> {
    return (await this.first) + (await this.second) + (await (this.third ??= read())) + (await this.fourth)
  }
}
`

test('finds promises that may reject before anybody waits for them, and no others', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-late-awaits-'))
  context.after(() => rm(folder, { recursive: true }))
  const files = [...CASES.map(([, body]) => `async function run() { ${body} }\nvoid run`), MEMBERS]
  const paths = files.map((_, index) => join(folder, `${index}.ts`))
  for (const [index, text] of files.entries()) await writeFile(paths[index] ?? '', `export {}\n${GIVEN}${text}\n`)
  const options = { strict: true, target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, types: [] }
  const program = ts.createProgram(paths, options)
  const found = paths.map((path) => {
    const source = program.getSourceFile(path)
    assert.ok(source !== undefined)
    return findLateAwaits(source, program.getTypeChecker()).map(({ name }) => name)
  })
  const expected = [...CASES.map(([, , names]) => names), ['first', 'this.second']]
  const named = [...CASES.map(([name]) => name), 'members of a class']
  assert.deepEqual(
    Object.fromEntries(named.map((name, index) => [name, found[index]])),
    Object.fromEntries(named.map((name, index) => [name, expected[index]])),
  )
})
