/** A short run of `npm run test:sandbox`: generated scripts of both languages that try to get out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../support/seeded-random.ts'
import { emptyReport, look, runCampaign } from './sandbox-campaign/campaign.ts'

test('generated scripts stay inside, leave nothing behind and are stopped', { timeout: 600_000 }, async (context) => {
  const random = seededRandom()
  context.diagnostic(`SEED=${random.seed}`)
  const { TBEL, JS } = await runCampaign(1000, random, (text) => context.diagnostic(text))
  // How long a stop takes is for the long run to say: here other tests hold the processor.
  const findings = [...TBEL.findings, ...JS.findings].filter((finding) => !finding.startsWith('took '))
  assert.deepEqual(findings, [], `SEED=${random.seed}`)
  assert.ok(TBEL.runs >= 500 && JS.runs >= 500 && TBEL.endless > 0 && JS.endless > 0)
  assert.ok(TBEL.failed < TBEL.runs && JS.failed < JS.runs, 'some scripts end well')
})

test('an outcome that tells of an escape, or names the host, is a finding', () => {
  const report = emptyReport()
  for (const outcome of ['"contained 3"', '"ESCAPED to process"', 'at run (node:internal/x)'])
    look(report, 'body', outcome)
  assert.equal(report.findings.length, 2)
})
