/**
 * Schemathesis calls every described operation with what fits its description and what does not: no 5xx, and no answer outside its schema.
 * `FUZZ_EXAMPLES=100` makes some 20,000 requests. That every described call can answer 2xx is shown by `endpoints.test.ts`.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEMO_SYSADMIN, DEMO_TENANT, login } from '../support/clients.ts'
import { pythonClients } from '../support/python-clients.ts'
import { requireTool } from '../support/require-tool.ts'
import { startMillrace } from '../support/start-millrace.ts'

/** A half of all requests are made by each of two authorities. */
const EXAMPLES = Number(process.env['FUZZ_EXAMPLES'] ?? 3)
/** Of each, so that a run has a thousand in all. */
const MIN_CALLS = 500
/** Of a test that hangs: with sixty others for two cores a call takes a third of a second. */
const LIMIT_MS = EXAMPLES <= 10 ? 1_800_000 : 21_600_000
/** Calls that wait for a device or a rule chain, which nobody answers here: 10 s, where they name no time of their own. */
const WAITS = '(/rpc/(oneway|twoway)/|/rule-engine/)'
const MAX_WAITING_EXAMPLES = 3
/** Calls that end the log-in with which the others are made. */
const ENDS_THE_LOGIN = '(/auth/logout|/auth/changePassword|/user/.userId.$|/tenant/.tenantId.$|userCredentialsEnabled)'

for (const user of [DEMO_TENANT, DEMO_SYSADMIN]) {
  test(`any call of ${user.username} is answered as described`, { timeout: LIMIT_MS }, async (context) => {
    if (!requireTool(context, 'python3')) return
    const python = await pythonClients()
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    const token = await login(millrace, user)
    const checks = ['-c', 'not_a_server_error,response_schema_conformance', '--continue-on-failure']
    const waits = ['--request-timeout', '90', '--workers', '4']
    const amount = ['--phases', 'examples,fuzzing', '--mode', 'all', '--seed', '1']
    const options = ['--no-color', '-H', `X-Authorization: Bearer ${token}`]
    const program = ['-m', 'schemathesis.cli', 'run', `${millrace.url}/v3/api-docs`]
    // It leaves files of its own where it runs.
    const folder = await mkdtemp(join(tmpdir(), 'millrace-fuzz-'))
    context.after(() => rm(folder, { recursive: true }))
    const fuzz = async (examples: number, ...paths: string[]): Promise<number> => {
      const call = [
        ...program,
        ...options,
        ...checks,
        ...amount,
        ...waits,
        '--max-examples',
        String(examples),
        ...paths,
      ]
      const fuzzer = spawn(python, call, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      for (const stream of [fuzzer.stdout, fuzzer.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (output += text))
      const [code] = (await once(fuzzer, 'close')) as [number | null]
      // Behind what failed it gives advice on every call.
      const begins = Math.max(output.search(/=+ (?:FAILURES|ERRORS)/), 0)
      assert.equal(code, 0, `${output.slice(begins, begins + 12_000)}\n${millrace.log().slice(-4000)}`)
      return Number(/(\d+) generated/.exec(output)?.[1])
    }
    // Side by side: the second waits more than it computes.
    const calls = await Promise.all([
      fuzz(EXAMPLES, '--exclude-path-regex', `(${ENDS_THE_LOGIN}|${WAITS})`),
      fuzz(Math.min(EXAMPLES, MAX_WAITING_EXAMPLES), '--include-path-regex', WAITS),
    ])
    const made = calls.reduce((sum, count) => sum + count, 0)
    assert.ok(made >= MIN_CALLS, `only ${made} calls were made`)
    context.diagnostic(`${made} calls`)
  })
}
