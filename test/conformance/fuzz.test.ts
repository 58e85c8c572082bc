/**
 * Schemathesis calls every described operation with what fits its description and what does not: no 5xx, and no answer outside its schema.
 * `FUZZ_EXAMPLES=100` makes some 20,000 requests.
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
const LIMIT_MS = EXAMPLES <= 10 ? 300_000 : 3_600_000
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
    // Some calls wait for an answer by their own time, longer than the fuzzer would.
    const waits = ['--request-timeout', '90', '--workers', '4']
    const amount = ['--phases', 'examples,fuzzing', '--mode', 'all', '--max-examples', String(EXAMPLES), '--seed', '1']
    const options = ['--no-color', '--exclude-path-regex', ENDS_THE_LOGIN, '-H', `X-Authorization: Bearer ${token}`]
    const program = ['-m', 'schemathesis.cli', 'run', `${millrace.url}/v3/api-docs`]
    // It leaves files of its own where it runs.
    const folder = await mkdtemp(join(tmpdir(), 'millrace-fuzz-'))
    context.after(() => rm(folder, { recursive: true }))
    const call = [...program, ...options, ...checks, ...amount, ...waits]
    const fuzzer = spawn(python, call, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [fuzzer.stdout, fuzzer.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const [code] = (await once(fuzzer, 'close')) as [number | null]
    assert.equal(code, 0, `${output.slice(-12_000)}\n${millrace.log().slice(-4000)}`)
    const [, generated] = /(\d+) generated/.exec(output) ?? []
    assert.ok(Number(generated) >= 100, `only ${generated} calls were made`)
    context.diagnostic(`${generated} calls`)
  })
}
