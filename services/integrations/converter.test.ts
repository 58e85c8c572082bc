import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { createScriptHost } from '../../engine/script/host.ts'
import { Converter, uploadJson } from './converter.ts'
import { converterOf } from './converter-configuration.ts'

const scripts = createScriptHost({
  clock: systemClock,
  random: systemRandom,
  javaScript: () => assert.fail('not asked for'),
})
const OWNER = { tenantId: 't', ownerId: 'i' }

async function convert(script: string, payloads: readonly (string | Buffer)[], payloadFormat = 'JSON') {
  const parts = { scripts, castStrings: true, newId: () => 'id', now: () => 5 }
  const converter = await Converter.compile(converterOf({ script, payloadFormat }), OWNER, parts)
  const frames = payloads.map((payload) => ({ payload: Buffer.from(payload), metadata: { topic: 'a/b' } }))
  const outcomes = await converter.convert(frames)
  converter.close()
  return outcomes.map((outcome) => (isMillraceError(outcome) ? outcome.message : outcome.map(uploadJson)))
}

describe('a converter', () => {
  it('makes uploads of one device or many, with and without times', async () => {
    const script = `
      if (payload.skip == true) return null;
      return [{deviceName: metadata.topic, telemetry: [{ts: payload.ts, values: {a: 1, b: 'x'}}, {c: 2.5}]},
              {deviceName: 'two', deviceType: 'meter', attributes: {on: true}}];`
    assert.deepEqual(await convert(script, ['{"ts":7}', '{"skip":true}']), [
      [
        {
          ...{ deviceName: 'a/b', deviceType: null, attributes: {} },
          telemetry: [
            { ts: 7, values: { a: 1, b: 'x' } },
            { ts: null, values: { c: 2.5 } },
          ],
        },
        { deviceName: 'two', deviceType: 'meter', telemetry: [], attributes: { on: true } },
      ],
      [],
    ])
  })

  it('gets text and bytes', async () => {
    const text = await convert('return {deviceName: payload};', ['north'], 'TEXT')
    const bytes = await convert(
      "return {deviceName: 'n', telemetry: {b: payload[1]}};",
      [Buffer.from([1, 255])],
      'BINARY',
    )
    assert.deepEqual([text, bytes].flat(2), [
      { deviceName: 'north', deviceType: null, telemetry: [], attributes: {} },
      { deviceName: 'n', deviceType: null, telemetry: [{ ts: null, values: { b: 255 } }], attributes: {} },
    ])
  })

  it('says of each payload alone what is wrong, and goes on with the others', async () => {
    const script = 'if (payload.fail == true) { return 7; } return payload;'
    const [notJson, number, noName, badTime, badKey, good] = await convert(script, [
      '{"a":',
      '{"fail":true}',
      '{"telemetry":{}}',
      '{"deviceName":"d","telemetry":{"ts":"soon","values":{}}}',
      '{"deviceName":"d","attributes":{"":1}}',
      '{"deviceName":"d"}',
    ])
    assert.match(JSON.stringify(notJson), /payload is not JSON/)
    assert.match(JSON.stringify(number), /result: an object is expected/)
    assert.match(JSON.stringify(noName), /result\.deviceName/)
    assert.match(JSON.stringify(badTime), /result\.telemetry\.ts/)
    assert.match(JSON.stringify(badKey), /result\.attributes/)
    assert.deepEqual(good, [{ deviceName: 'd', deviceType: null, telemetry: [], attributes: {} }])
  })

  it('is refused with line and column where its script is none', async () => {
    await assert.rejects(convert('return {\n deviceName: ;', []), /line 2, column \d+/)
  })
})
