/** The README's five-minute tour, command for command; only the ports are those of the process that the test started. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireTool } from '../support/require-tool.ts'
import { PROJECT_ROOT, startMillrace } from '../support/start-millrace.ts'
import { readTour } from './tour.ts'

test('the five-minute tour of the README does what it says', { timeout: 600_000 }, async (context) => {
  if (!requireTool(context, 'curl') || !requireTool(context, 'mosquitto_pub') || !requireTool(context, 'bash')) return
  const steps = readTour(await readFile(join(PROJECT_ROOT, 'README.md'), 'utf8'))
  assert.ok(steps.length >= 4, `the README's tour has ${steps.length} steps`)

  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  // One shell for all steps, as the reader's own: variables of one step are there in the next.
  const script = steps.map((step, index) => `printf '\\n--- step ${index}\\n'\n${step.commands}`).join('\n')
  const commands = `${WAITING}\n${onPortsOf(millrace.ports, script)}`
  const { stdout, stderr, status } = spawnSync('bash', ['-e', '-u', '-c', commands], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    env: { ...process.env, MILLRACE_URL: millrace.url },
    timeout: 300_000,
  })
  assert.equal(status, 0, `${stdout}\n${stderr}\n${millrace.log()}`)
  const outputs = stdout.split(/^--- step \d+\n/m).slice(1)
  for (const [index, step] of steps.entries()) {
    for (const pattern of step.expected) {
      assert.match(outputs[index] ?? '', new RegExp(pattern), `step ${index} of the tour:\n${step.commands}`)
    }
  }
  assert.doesNotMatch(outputs.at(-1) ?? '', /"81"/, 'the chain of the last step stores no 81')
})

/**
 * A reader takes a moment from one command to the next, and the tour says how long where that is not enough. A shell takes none, and a busy machine
 * more: here what the reader waits for is waited for.
 */
const WAITING = String.raw`
figure() { command curl -s "$MILLRACE_URL/metrics" | sed -n "s/^millrace_$1 //p"; }
stored() { until [ "$(figure link_unsettled_messages)" = 0 ]; do command sleep 0.1; done; }
watched() { until [ "$(figure websocket_subscriptions)" = 1 ]; do command sleep 0.1; done; }
sleep() { if [ "$1" = 5 ]; then watched; else stored; fi; }
curl() { case "$*" in */values/timeseries*) stored;; esac; command curl "$@"; }
`

function onPortsOf(ports: Readonly<Record<string, number>>, script: string): string {
  return script.replaceAll(':8080', `:${ports['http']}`).replaceAll('-p 1883', `-p ${ports['mqtt']}`)
}
