/** Reads of a key that gets its number, and its first point, when the read has looked for the number. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { inspect } from 'node:util'
import type { CommitSequence, Snapshot } from '../store.ts'
import { KeyDictionary } from './key-dictionary.ts'

/** `write`: of a point of the key, by another process. */
export async function assertLateKeyIsHeld(
  context: TestContext,
  key: string,
  read: () => Promise<Snapshot<unknown>>,
  write: () => Promise<CommitSequence>,
): Promise<void> {
  let commit: number | undefined
  const looking = context.mock.method(
    KeyDictionary.prototype,
    'find',
    async function (this: KeyDictionary, keys: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
      looking.mock.restore()
      const found = await this.find(keys)
      commit = await write()
      return found
    },
  )
  const { value, sequence } = await read()
  assert.ok(commit !== undefined)
  const says = `up to ${sequence}, with ${commit}: ${inspect(value)}`
  assert.ok(sequence < commit || says.includes(`'${key}'`), says)
}
