/**
 * Each message runs once for each of its tries, never after it was durably settled, a value as often as it was sent, and the messages of a
 * device in the order in which it sent them: over kills and cut connections. And the checker is no decoration: it catches what is planted.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { PLANTED_BUGS } from '../support/planted/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { FEWEST_A_ROUND, runOrderAndDoubles, type OrderReport, type OrderSettings } from './order-and-doubles.ts'

/** `npm run test:kills` asks for 20. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
/** A planted bug that is not caught in so many rounds is one that the checker does not see. */
const PLANTED_ROUNDS = 8

async function run(context: TestContext, settings: Omit<OrderSettings, 'random'>): Promise<OrderReport> {
  const random = seededRandom()
  const report = await runOrderAndDoubles({ ...settings, random })
  const { acknowledged, resends, runs, repeated, doubled, afterSettle, counted, outOfOrder, lost } = report
  context.diagnostic(
    `seed ${random.seed}: acknowledged ${acknowledged}, sent again ${resends}, runs ${runs}, run again ${repeated}; the same try twice ` +
      `${doubled}, after the settle ${afterSettle}, counted twice ${counted}, out of order ${outOfOrder}, lost ${lost}`,
  )
  return report
}

for (const isStrict of [false, true]) {
  const order = isStrict ? 'strict order' : 'the order of first tries'
  test(`no run is doubled, late or lost over ${ROUNDS} kills, in ${order}`, { timeout: 600_000 }, async (context) => {
    const report = await run(context, { rounds: ROUNDS, isStrict })
    assert.deepEqual(report.findings, [])
    assert.ok(report.acknowledged >= FEWEST_A_ROUND * ROUNDS, `void: only ${report.acknowledged} acknowledgements`)
    assert.ok(report.resends > 0, 'void: nothing was sent again')
  })
}

for (const bug of PLANTED_BUGS) {
  test(`planted: ${bug.name}, and caught`, { timeout: 600_000 }, async (context) => {
    const report = await run(context, { rounds: PLANTED_ROUNDS, isStrict: bug.isOfStrictOrder === true, bug })
    assert.notEqual(report.findings.length, 0, 'the checker does not see it')
    context.diagnostic(report.findings[0] ?? '')
  })
}
