import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptDefaults } from '../script-configuration.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { log } from './log.ts'

test('the default script needs no script engine and writes one line with the same text', async () => {
  const context = testContext()
  const instance = await createNode(log, log.defaultConfiguration, context)
  assert.equal(context.openScripts(), 0)
  await runNode(instance, testMessage({ data: '{"temperature":81.0}', metadata: { deviceName: 'A "1"' } }))
  assert.equal(context.lines.length, 1)
  const [line] = context.lines
  assert.equal(line?.level, 'info')
  assert.equal(line.text, '\nIncoming message:\n{"temperature":81.0}\nIncoming metadata:\n{"deviceName":"A \\"1\\""}')
  assert.equal(line.fields?.['msgType'], 'POST_TELEMETRY_REQUEST')
})

for (const body of [undefined, "return 'x';"]) {
  test(`where lines of level info are not shown, nothing is written or run (${body ?? 'the default script'})`, async () => {
    const context = testContext({ settings: { castStrings: true, logsInfo: false } })
    const configuration = body === undefined ? log.defaultConfiguration : scriptDefaults(body)
    const instance = await createNode(log, configuration, context)
    const [result] = await runNode(instance, testMessage({ data: 'no JSON, which a script would refuse' }))
    assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
    assert.deepEqual(context.lines, [])
    await instance.close?.()
    assert.equal(context.openScripts(), 0)
  })
}

for (const scriptLang of ['TBEL', 'JS']) {
  test(`a script of one's own makes the text, and its error takes Failure without a line (${scriptLang})`, async () => {
    const context = testContext()
    const configuration = { ...scriptDefaults("return 'too hot: ' + msg.temperature.toFixed(1);"), scriptLang }
    const instance = await createNode(log, configuration, context)
    const results = await runNode(instance, testMessage({ data: '{"temperature":81}' }), testMessage({ data: '{}' }))
    assert.deepEqual(
      context.lines.map(({ text }) => text),
      ['too hot: 81.0'],
    )
    assert.deepEqual(
      results.map(({ emissions }) => emissions[0]?.relations[0]),
      ['Success', 'Failure'],
    )
  })
}
