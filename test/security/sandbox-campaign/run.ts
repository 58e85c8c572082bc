/**
 * `npm run test:sandbox`: scripts made by chance that try to get out, in both languages, `RUNS` of them (1,000,000), with the seed of `SEED`; `SECONDS` ends it earlier.
 * Ends with 1 when one did, left something behind, named the host, or ran longer than its limit and 50 ms.
 */
import { seededRandom } from '../../support/seeded-random.ts'
import { runCampaign } from './campaign.ts'

const random = seededRandom()
const runs = Number(process.env['RUNS'] ?? 1_000_000)
process.stderr.write(`SEED=${random.seed}, ${runs} runs\n`)
const seconds = Number(process.env['SECONDS'] ?? Infinity)
const report = await runCampaign(runs, random, (text) => process.stderr.write(`${text}\n`), seconds)
let found = 0
for (const language of ['TBEL', 'JS'] as const) {
  const { findings, slowestStopMs, ...counts } = report[language]
  found += findings.length
  process.stdout.write(
    `${language} ${JSON.stringify({ ...counts, slowestStopMs: Math.round(slowestStopMs), findings: findings.length })}\n`,
  )
  for (const finding of findings.slice(0, 20)) process.stdout.write(`  ${finding}\n`)
}
process.exit(found === 0 ? 0 : 1)
