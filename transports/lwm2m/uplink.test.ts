/** What a profile names is stored, under its keys and with its resource's type (`device-api.md` 13.3, 13.5). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { decodeSenmlJson } from './codecs/senml-json.ts'
import { decodeTlv } from './codecs/tlv.ts'
import type { Path, ValueRecord } from './codecs/records.ts'
import { findCoreResource } from './core-models.ts'
import { planOf, profileOf } from './profile.ts'
import { registrationOf } from './registration-request.ts'
import { uplinkOf } from './uplink.ts'

const NOW = 1_700_000_000_000

const OBSERVING = {
  keyName: {
    '/3_1.2/0/9': 'batteryLevel',
    '/3_1.2/0/7': 'voltage',
    '/3_1.2/0/14': 'utcOffset',
    '/3_1.2/0/13': 'time',
    '/3_1.1/0/10': 'memory',
    '/3303_1.0/0/5700': 'temperature',
    '/9999_1.0/0/0': 'mystery',
  },
  observe: ['/3_1.2/0/9', '/3_1.1/0/10', '/3303_1.0', '/3303_1.0/7/5700', '/6_1.0/0'],
  telemetry: ['/3_1.2/0/9', '/3_1.2/0/7', '/3_1.1/0/10', '/3303_1.0/0/5700', '/9999_1.0/0/0', '/3_1.2/0/20'],
  attribute: ['/3_1.2/0/14', '/3_1.2/0/13', '/3_1.2/0/9'],
  attributeLwm2m: { '/3_1.2/0/9': { pmin: 5, pmax: 60, gt: 50.5, st: null }, '/6_1.0/0': { pmin: 1 } },
}

function configuration(observeAttr: JsonObject = OBSERVING): JsonObject {
  return { type: 'LWM2M', observeAttr, clientLwM2mSettings: { defaultObjectIDVer: '1.0', powerMode: 'DRX' } }
}

const LINKS = '</>;rt="oma.lwm2m";ct="110",</3/0>;ver=1.2,</3303/0>,</9999/0>'
const client = registrationOf(new Map(Object.entries({ ep: 'one', lwm2m: '1.1' })), LINKS)
const { offer } = client
const profile = profileOf(configuration())
const plan = planOf(profile, client)

function uplink(records: readonly ValueRecord[]) {
  const { defaultVersion } = profile
  return uplinkOf(records, { plan, offer, defaultVersion, findResource: findCoreResource, now: NOW })
}

function tlv(hex: string, base: Path): readonly ValueRecord[] {
  return decodeTlv(Buffer.from(hex, 'hex'), base)
}

describe('what a profile wants of a client', () => {
  it('is what the client has, in the version that it has', () => {
    assert.deepEqual(plan.observe, [[[3, 0, 9]], [[3303]]])
    assert.deepEqual(Object.fromEntries(plan.telemetry), {
      '/3/0/9': 'batteryLevel',
      '/3/0/7': 'voltage',
      '/3303/0/5700': 'temperature',
      '/9999/0/0': 'mystery',
    })
    assert.deepEqual(plan.notifying, [{ path: [3, 0, 9], parameters: { pmin: 5, pmax: 60, gt: 50.5 } }])
  })

  it('is read where it is stored and not observed', () => {
    assert.deepEqual(plan.read, [[[3, 0, 7]], [[9999, 0, 0]], [[3, 0, 14]], [[3, 0, 13]]])
  })

  it('is asked for together where the profile says so and the client understands', () => {
    const OBSERVE = ['/3_1.2/0/9', '/3303_1.0', '/3_1.2/0/10']
    const planned = (observeStrategy: JsonValue, more: JsonObject = {}, own: typeof client = client) => {
      const { observe, read } = planOf(
        profileOf(configuration({ ...OBSERVING, observe: OBSERVE, observeStrategy, ...more })),
        own,
      )
      return { observe, reads: read.map((each) => each.length) }
    }
    const all = { observe: [[[3, 0, 9], [3303], [3, 0, 10]]], reads: [1, 1, 1, 1] }
    for (const strategy of ['COMPOSITE_ALL', 1]) assert.deepEqual(planned(strategy), all)
    assert.deepEqual(planned(1, { initAttrTelAsObsStrategy: true }).reads, [4])
    const byObject = planned('COMPOSITE_BY_OBJECT', { initAttrTelAsObsStrategy: true })
    assert.deepEqual(byObject, {
      observe: [
        [
          [3, 0, 9],
          [3, 0, 10],
        ],
        [[3303]],
      ],
      reads: [3, 1],
    })
    const single = { observe: [[[3, 0, 9]], [[3303]], [[3, 0, 10]]], reads: [1, 1, 1, 1] }
    for (const strategy of ['SINGLE', 0, null]) assert.deepEqual(planned(strategy), single)
    assert.deepEqual(planned(1, {}, { ...client, version: '1.0' }), single)
    assert.deepEqual(planned(1, {}, { ...client, offer: { ...offer, formats: [11_542] } }), single)
    assert.throws(() => planned(3), { code: 'lwm2m.PROFILE' })
  })

  it('is nothing where the profile says nothing', () => {
    const nothing = { observe: [], read: [], telemetry: new Map(), attributes: new Map(), notifying: [] }
    assert.deepEqual(planOf(profileOf({ type: 'LWM2M' }), client), nothing)
    assert.deepEqual(planOf(profileOf({ observeAttr: null, clientLwM2mSettings: null }), client), nothing)
  })

  it('writes the attributes that are numbers, whatever else stands beside them', () => {
    const { notifying } = profileOf({
      observeAttr: { attributeLwm2m: { '/3/0/9': { pmin: 5, ver: '1.2', uri: 'x' } } },
    })
    assert.deepEqual(notifying, [{ path: [3, 0, 9], version: undefined, parameters: { pmin: 5 } }])
  })

  it('is refused where it names what can not be', () => {
    for (const wrong of [
      { observe: ['3/x'] },
      { observe: ['/70000'] },
      { observe: [''] },
      { telemetry: ['/3_1.2/0'] },
      { observe: 7 },
    ])
      assert.throws(() => profileOf(configuration(wrong)), { code: 'lwm2m.PROFILE' }, JSON.stringify(wrong))
  })
})

describe('an upload', () => {
  it('stores telemetry and attributes by the type of the resource, and nothing else', () => {
    const records = [...tlv('c10964 c10a0f c40d5182428f c60e2b30323a3030'.replaceAll(' ', ''), [3, 0])]
    assert.deepEqual(uplink(records), {
      telemetry: [{ ts: undefined, entries: [{ key: 'batteryLevel', type: 'LONG', value: 100 }] }],
      attributes: [
        { key: 'batteryLevel', type: 'LONG', value: 100 },
        { key: 'time', type: 'LONG', value: 1_367_491_215_000 },
        { key: 'utcOffset', type: 'STRING', value: '+02:00' },
      ],
      unknown: 0,
    })
  })

  it('stores the instances of a resource together', () => {
    assert.deepEqual(uplink(tlv('880708 42000ed8 42011388'.replaceAll(' ', ''), [3, 0])).telemetry, [
      { ts: undefined, entries: [{ key: 'voltage', type: 'JSON', value: '{"0":3800,"1":5000}' }] },
    ])
  })

  it('keeps the times of a pack: whole ones, and those that count from now', () => {
    const pack = [
      { bn: '/3303/0/', bt: 1_600_000_000, n: '5700', v: 20 },
      { n: '5700', t: 0.5, v: 21.5 },
      { bn: '/3/0/', bt: 0, n: '9', t: -10, v: 99 },
    ]
    assert.deepEqual(uplink(decodeSenmlJson(Buffer.from(JSON.stringify(pack)))).telemetry, [
      { ts: 1_600_000_000_000, entries: [{ key: 'temperature', type: 'DOUBLE', value: 20 }] },
      { ts: 1_600_000_000_500, entries: [{ key: 'temperature', type: 'DOUBLE', value: 21.5 }] },
      { ts: NOW - 10_000, entries: [{ key: 'batteryLevel', type: 'LONG', value: 99 }] },
    ])
  })

  it('takes any time that a date can name, as in the JSON of other transports, and refuses the whole pack for another', () => {
    const [first, last] = [-8_640_000_000_000, 8_640_000_000_000]
    const tsOf = (time: string, base = '0'): number | undefined => {
      const pack = `[{"n":"/3303/0/5700","v":20},{"bt":${base},"n":"/3/0/9","t":${time},"v":99}]`
      return uplink(decodeSenmlJson(Buffer.from(pack))).telemetry[1]?.ts
    }
    const taken: readonly (readonly [string, string, number])[] = [
      // RFC 8428, 4.5.3: below 2^28 what base time and time come to counts from now.
      ['268435455', '0', NOW + 268_435_455_000],
      ['268435456', '0', 268_435_456_000],
      ['-1', '268435456', NOW + 268_435_455_000],
      ['-2000000000', '1700000000', NOW - 300_000_000_000],
      [`${last}`, '0', last * 1000],
      [`${first}`, '0', NOW + first * 1000],
    ]
    for (const [time, base, ts] of taken) assert.equal(tsOf(time, base), ts, `${base} + ${time}`)
    assert.equal(tsOf(`${first - NOW / 1000}`), first * 1000)
    for (const [time, base] of [
      [`${last + 1}`, '0'],
      [`${first - NOW / 1000 - 1}`, '0'],
      ['9007199254740993', '0'],
      ['-9007199254740993', '0'],
      ['1e300', '0'],
      ['1e999', '0'],
      ['-1e999', '1e999'],
      ['1', '-1e999'],
    ] as const)
      assert.throws(() => tsOf(time, base), { code: 'lwm2m.BAD_TIME' }, `${base} + ${time}`)
  })

  it('counts what nobody knows the type of', () => {
    assert.deepEqual(uplink(tlv('c10001', [9999, 0])), { telemetry: [], attributes: [], unknown: 1 })
  })

  it('is refused whole where one value is not of its type', () => {
    const pack = '[{"n":"/3303/0/5700","v":20},{"n":"/3/0/9","vs":"full"}]'
    assert.throws(() => uplink(decodeSenmlJson(Buffer.from(pack))), { code: 'lwm2m.WRONG_VALUE' })
  })
})
