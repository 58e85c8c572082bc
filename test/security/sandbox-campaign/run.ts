/**
 * `npm run test:sandbox`: scripts made by chance that try to get out, in both languages, `RUNS` of them (1,000,000), with the seed of `SEED`; `SECONDS` ends it earlier,
 * `LANGUAGE` (TBEL, JS) runs one alone.
 * Ends with 1 when one did, left something behind, named the host, or ran longer than its limit and 50 ms.
 */
import { seededRandom } from '../../support/seeded-random.ts'
import { runCampaign } from './campaign.ts'

const random = seededRandom()
const runs = Number(process.env['RUNS'] ?? 1_000_000)
process.stderr.write(`SEED=${random.seed}, ${runs} runs\n`)
const seconds = Number(process.env['SECONDS'] ?? Infinity)
const LANGUAGES = ['TBEL', 'JS'] as const
const wanted = process.env['LANGUAGE'] ?? ''
const languages = LANGUAGES.filter((language) => wanted === '' || language === wanted)
if (languages.length === 0) throw new Error(`LANGUAGE is ${wanted}: TBEL or JS, or none for both`)
const report = await runCampaign(runs, random, (text) => process.stderr.write(`${text}\n`), seconds, languages)
let found = 0
for (const language of languages) {
  const { findings, slowestStopMs, ...counts } = report[language]
  found += findings.length
  process.stdout.write(
    `${language} ${JSON.stringify({ ...counts, slowestStopMs: Math.round(slowestStopMs), findings: findings.length })}\n`,
  )
  for (const finding of findings.slice(0, 20)) process.stdout.write(`  ${finding}\n`)
}
process.exit(found === 0 ? 0 : 1)
