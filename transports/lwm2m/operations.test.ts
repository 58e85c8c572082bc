/** Calls as requests to a client (`device-api.md` 13.7, 13.8). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeSenmlCbor } from './codecs/cbor.ts'
import { decodeSenmlJson } from './codecs/senml-json.ts'
import { findCoreResource } from './core-models.ts'
import type { Operation } from './operation.ts'
import { operationOf } from './operations.ts'
import { profileOf } from './profile.ts'
import { registrationOf } from './registration-request.ts'

const profile = profileOf({
  observeAttr: {
    keyName: { '/3_1.2/0/9': 'batteryLevel', '/3_1.1/0/10': 'memory', '/3303_1.0/0/5700': 'temperature' },
  },
})

function call(method: string, params: unknown, formats = '110 112 11542 42', version = '1.1'): Promise<Operation> {
  const links = `</>;rt="oma.lwm2m";ct="${formats}",</3/0>;ver=1.2,</3303/0>,</5/0>`
  const client = registrationOf(new Map(Object.entries({ ep: 'one', lwm2m: version })), links)
  const text = typeof params === 'string' ? params : JSON.stringify(params)
  return operationOf(method, text, { client, profile, findResource: findCoreResource })
}

async function written(method: string, params: unknown, formats: string, version?: string) {
  const { code, path, body } = await call(method, params, formats, version)
  return { code, path, format: body?.format, hex: body?.bytes.toString('hex') }
}

describe('a call', () => {
  it('reads, observes and discovers what it names, by path or by key', async () => {
    const read = { code: '0.01', path: [3, 0, 9], query: [], accept: 112 }
    for (const params of [{ key: 'batteryLevel' }, { id: '/3_1.2/0/9' }, { id: '3/0/9' }])
      assert.deepEqual(await call('Read', params), read)
    assert.deepEqual(await call('Observe', { key: 'batteryLevel' }), { ...read, observe: 0 })
    assert.deepEqual(await call('ObserveCancel', { key: 'batteryLevel' }), { ...read, observe: 1 })
    assert.deepEqual(await call('Discover', { id: '/3_1.2' }), { code: '0.01', path: [3], query: [], accept: 40 })
    assert.deepEqual(await call('Delete', { id: '/3303/0' }), { code: '0.04', path: [3303, 0], query: [] })
  })

  it('asks for what the client understands', async () => {
    const accepts = async (id: string, formats: string, version?: string) =>
      (await call('Read', { id }, formats, version)).accept
    assert.equal(await accepts('/3/0/9', '0', '1.1'), 0)
    assert.equal(await accepts('/3/0/9', '0', '1.0'), 11_542)
    assert.equal(await accepts('/3/0/9', '110'), 110)
    assert.equal(await accepts('/5/0/0', '42 112'), 42)
    assert.equal(await accepts('/3/0', '110 112', '1.0'), 11_542)
    assert.equal(await accepts('/3/0', '110 112'), 112)
    assert.equal(await accepts('/3', '0'), 11_542)
    assert.equal(await accepts('/3', '11543'), 11_543)
    assert.equal(await accepts('/3', '11543', '1.0'), 11_542)
  })

  it('executes, with or without an argument', async () => {
    const execute = { code: '0.02', path: [3, 0, 4], query: [] }
    assert.deepEqual(await call('Execute', { id: '/3/0/4' }), execute)
    const body = { format: 0, bytes: Buffer.from("0='reboot'") }
    assert.deepEqual(await call('Execute', { id: '/3/0/4', value: "0='reboot'" }), { ...execute, body })
  })

  it('writes a value by the type of its resource', async () => {
    const one = { code: '0.03', path: [3303, 0, 5700] }
    const params = { key: 'temperature', value: 22 }
    assert.deepEqual(await written('WriteReplace', params, '0', '1.1'), { ...one, format: 0, hex: '3232' })
    assert.deepEqual(await written('WriteReplace', params, '0', '1.0'), {
      ...{ ...one, format: 11_542, hex: 'e816440840360000' + '00000000' },
    })
    const blob = await written('WriteReplace', { id: '/5/0/0', value: '00AD' }, '42')
    assert.deepEqual(blob, { code: '0.03', path: [5, 0, 0], format: 42, hex: '00ad' })
  })

  it('writes every digit of an integer', async () => {
    const { hex } = await written('WriteReplace', '{"id":"/3/0/9","value":9007199254740993}', '0', '1.0')
    assert.equal(hex, 'c809080020000000000001')
  })

  it('writes instances of a resource, and resources of an instance', async () => {
    const instances = await written('WriteReplace', { id: '/3/0/6', value: { 0: 1, 1: '5' } }, '0', '1.0')
    assert.deepEqual(instances, { code: '0.03', path: [3, 0, 6], format: 11_542, hex: '8606410001410105' })
    const update = await call('WriteUpdate', { id: '/3/0', value: { 14: '+5', 9: 7 } })
    assert.deepEqual([update.code, update.path, update.body?.format], ['0.02', [3, 0], 112])
    assert.deepEqual(await decodeSenmlCbor(update.body?.bytes ?? Buffer.alloc(0)), [
      { path: [3, 0, 9], value: { kind: 'number', value: 7 } },
      { path: [3, 0, 14], value: { kind: 'text', value: '+5' } },
    ])
    const some = await call('WriteUpdate', { id: '/3/0/6', value: { 1: 5 } }, '110')
    assert.deepEqual(decodeSenmlJson(some.body?.bytes ?? Buffer.alloc(0)), [
      { path: [3, 0, 6, 1], value: { kind: 'number', value: 5 } },
    ])
  })

  it('writes instances in the JSON of 1.0 where the client has no other', async () => {
    const { body } = await call('WriteUpdate', { id: '/3/0', value: { 14: '+5', 9: 7 } }, '11543')
    assert.deepEqual(
      [body?.format, body?.bytes.toString()],
      [11_543, '{"bn":"/","e":[{"n":"3/0/9","v":7},{"n":"3/0/14","sv":"+5"}]}'],
    )
  })

  it('writes attributes of notifications', async () => {
    const operation = await call('WriteAttributes', { id: '/3/0/9', attributes: { pmin: 10, gt: 1.5 } })
    assert.deepEqual(operation, { code: '0.03', path: [3, 0, 9], query: ['pmin=10', 'gt=1.5'] })
  })

  it('executes whatever has no value, a wipe too', async () => {
    for (const id of ['/3/0/4', '/5/0/2', '/8/0/3', '/9/0/4'])
      assert.equal((await call('Execute', { id })).code, '0.02', id)
  })

  it('makes an instance of an object, whose id the client picks or the caller names, or several', async () => {
    const made = { code: '0.02', path: [3303], query: [] }
    const value = { 5701: 'C' }
    const unnamed = await call('Create', { id: '/3303', value }, '11542 112')
    const { format, bytes } = unnamed.body ?? {}
    assert.deepEqual([unnamed.path, format, bytes?.toString('hex')], [[3303], 11_542, 'e1164543'])
    const next = await call('Create', { id: '/3303', value }, '110')
    const pack = (instance: number) => Buffer.from(`[{"n":"/3303/${instance}/5701","vs":"C"}]`)
    assert.deepEqual(next, { ...made, body: { format: 110, bytes: pack(1) }, created: [3303, 1] })
    const named = await call('Create', { id: '/3303/7', value }, '110')
    assert.deepEqual(named, { ...made, body: { format: 110, bytes: pack(7) }, created: [3303, 7] })
    const several = await call('Create', { id: '/3303', nodes: { 7: value, 8: value } }, '11542')
    assert.equal(several.body?.bytes.toString('hex'), '0407e1164543' + '0408e1164543')
  })

  it('reads, observes and writes several paths at once', async () => {
    const ids = ['/3_1.2/0/9', '/5']
    const paths = [[3, 0, 9], [5]]
    const body = { format: 110, bytes: Buffer.from('[{"n":"/3/0/9"},{"n":"/5"}]') }
    const read = { code: '0.05', path: [], paths, query: [], accept: 110, body }
    assert.deepEqual(await call('ReadComposite', { ids }, '110'), read)
    assert.deepEqual(await call('ObserveComposite', { ids: [...ids, '3/0/9'] }, '110'), { ...read, observe: 0 })
    assert.deepEqual(await call('ObserveCompositeCancel', { ids }, '110'), { ...read, observe: 1 })
    const keyed = await call('ReadComposite', { keys: ['batteryLevel', 'temperature'] })
    assert.deepEqual(
      [keyed.paths, keyed.accept, keyed.body?.bytes.toString('hex')],
      [
        [
          [3, 0, 9],
          [3303, 0, 5700],
        ],
        ...[112, '82a100662f332f302f39a1006c2f333330332f302f35373030'],
      ],
    )
    const nodes = { '/3_1.2/0/14': '+04', temperature: 21.5, '/3/0/6': { 0: 1, 2: 5 } }
    const { code, path, body: sent, written: has } = await call('WriteComposite', { nodes }, '110')
    const pack =
      '[{"n":"/3/0/14","vs":"+04"},{"n":"/3303/0/5700","v":21.5},{"n":"/3/0/6/0","v":1},{"n":"/3/0/6/2","v":5}]'
    assert.deepEqual([code, path, sent?.format, sent?.bytes.toString()], ['0.07', [], 110, pack])
    assert.equal(has?.length, 4)
  })

  it('for several paths is nothing for a client that knows no such thing', async () => {
    const refusal = { code: 'lwm2m.NO_COMPOSITE', message: 'This device does not support Composite Operation' }
    await assert.rejects(call('ReadComposite', { ids: ['/3/0/9'] }, '11542'), refusal)
    await assert.rejects(call('WriteComposite', { nodes: { '/3/0/14': 'x' } }, '110', '1.0'), refusal)
  })

  it('is refused with what is wrong', async () => {
    const refused: readonly [string, unknown, string, RegExp][] = [
      ['Reboot', {}, 'UNKNOWN_METHOD', /Reboot/],
      ['toString', {}, 'UNKNOWN_METHOD', /toString/],
      ['Read', { key: 'nothing' }, 'KEY_NOT_CONFIGURED', /^nothing is not configured in the device profile!$/],
      ['Read', { key: 'memory' }, 'BAD_CALL', /version 1.2 of object 3/],
      ['Read', { id: '/3_1.0/0/9' }, 'BAD_CALL', /version 1.2/],
      ['Read', {}, 'BAD_CALL', /'id'/],
      ['Read', { id: '/3/x' }, 'BAD_CALL', /'id'/],
      ['Read', '[]', 'BAD_CALL', /object/],
      ['Read', '{', 'BAD_CALL', /object/],
      ['Execute', { id: '/3/0' }, 'BAD_CALL', /resource/],
      ['Execute', { id: '/3/0/9' }, 'BAD_CALL', /\/3\/0\/9 is not executable/],
      ['Delete', { id: '/3' }, 'BAD_CALL', /instance/],
      ['WriteReplace', { id: '/3/0', value: 1 }, 'BAD_CALL', /resource/],
      ['WriteReplace', { id: '/3/0/9' }, 'BAD_CALL', /'value'/],
      ['WriteReplace', { id: '/3/0/9', value: [1] }, 'BAD_CALL', /a value is/],
      ['WriteReplace', { id: '/3/0/9', value: {} }, 'BAD_CALL', /no instance/],
      ['WriteReplace', { id: '/3/0/9/0', value: { 0: 1 } }, 'BAD_CALL', /one value/],
      ['WriteReplace', { id: '/3/0/9', value: 'much' }, 'WRONG_VALUE', /whole number/],
      ['WriteReplace', { id: '/3/0/4711', value: 1 }, 'BAD_CALL', /type of \/3\/0\/4711/],
      ['WriteUpdate', { id: '/3/0', value: {} }, 'BAD_CALL', /no resource/],
      ['WriteUpdate', { id: '/3/0', value: { x: 1 } }, 'BAD_CALL', /'x'/],
      ['WriteUpdate', { id: '/3/0', value: { '6/0': 1 } }, 'BAD_CALL', /6\/0/],
      ['Create', { id: '/3303/0/1', value: { 5700: 1 } }, 'BAD_CALL', /an object or an instance/],
      ['Create', { id: '/3303' }, 'BAD_CALL', /'value' or 'nodes'/],
      ['Create', { id: '/3303', value: {} }, 'BAD_CALL', /no resource/],
      ['Create', { id: '/3303', nodes: {} }, 'BAD_CALL', /no instance/],
      ['Create', { id: '/3303', nodes: { 1: 2 } }, 'BAD_CALL', /by the ids/],
      ['Create', { id: '/3303/0', nodes: { 1: { 5700: 1 } } }, 'BAD_CALL', /for an object/],
      ['ReadComposite', { id: '/3/0/9' }, 'BAD_CALL', /'ids' or 'keys'/],
      ['ReadComposite', { ids: [] }, 'BAD_CALL', /'ids' or 'keys'/],
      ['ReadComposite', { ids: ['/3_1.0/0/9'] }, 'BAD_CALL', /version 1.2/],
      ['ReadComposite', { keys: ['nothing'] }, 'KEY_NOT_CONFIGURED', /^nothing/],
      ['WriteComposite', { nodes: {} }, 'BAD_CALL', /no value/],
      ['WriteComposite', {}, 'BAD_CALL', /'nodes'/],
      ['WriteComposite', { nodes: { nothing: 1 } }, 'BAD_CALL', /'id'/],
      ['WriteAttributes', { id: '/3/0/9', attributes: {} }, 'BAD_CALL', /numbers by name/],
      ['WriteAttributes', { id: '/3/0/9', attributes: { 'a&b': 1 } }, 'BAD_CALL', /numbers by name/],
    ]
    for (const [method, params, code, message] of refused)
      await assert.rejects(call(method, params), { code: `lwm2m.${code}`, message }, JSON.stringify([method, params]))
  })
})
