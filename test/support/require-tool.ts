/** Tests that drive a tool of the machine: absent, it is a printed skip; with REQUIRE_REAL=1 a failure. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { TestContext } from 'node:test'

export function hasTool(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
}

/** The `skip` of a test that drives what is not there; with REQUIRE_REAL=1 it throws. */
export function skipUnless(isThere: boolean, name: string): string | false {
  if (isThere) return false
  assert.notEqual(process.env['REQUIRE_REAL'], '1', `${name} is required and not on this machine`)
  return `needs ${name}, which is not on this machine`
}

/** False when the test was skipped because the tool is absent. */
export function requireTool(context: TestContext, name: string): boolean {
  const skip = skipUnless(hasTool(name), name)
  if (skip !== false) context.skip(skip)
  return skip === false
}
