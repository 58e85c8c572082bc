import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import { deviceNamed } from '../testkit.ts'
import { bench, shown, type Asked } from './testkit.ts'

const GET = '0.01'
const TELEMETRY = '/api/v1/one/telemetry'
const ATTRIBUTES = '/api/v1/one/attributes'
const CREATED = { type: 'ACK', code: '2.01', text: '' }

const { LIMIT, DOWN } = defineErrors('test', {
  LIMIT: { kind: 'denied', status: 429, text: 'too much' },
  DOWN: { kind: 'retryable', status: 503, text: 'away' },
})

describe('CoAP uploads', () => {
  it('are acknowledged when they are stored, and no sooner', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client()
      gateway.holding = true
      device.send({ path: TELEMETRY, payload: '{"a":1}' })
      await gateway.uploaded(1)
      assert.deepEqual([device.messages.length, transport.figures().acknowledged], [0, 0])
      gateway.uploads[0]?.receipt.stored()
      assert.deepEqual(shown(await device.message(0)), CREATED)
      assert.deepEqual([gateway.uploads[0]?.kind, gateway.uploads[0]?.device], ['telemetry', 'one'])
      assert.deepEqual(
        [...gateway.sessions].map(({ kind }) => kind),
        ['brief'],
      )
      assert.equal(transport.figures().acknowledged, 1)
    }))

  it('go through in any case of the name, as attributes too, and without confirmation', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      assert.deepEqual(await device.ask({ path: '/api/v1/one/TELEMETRY', payload: '{"a":1}' }), CREATED)
      assert.deepEqual(await device.ask({ path: ATTRIBUTES, payload: '{"a":1}' }), CREATED)
      assert.deepEqual(await device.ask({ path: TELEMETRY, payload: '{"a":1}', type: 'NON' }), {
        ...CREATED,
        type: 'NON',
      })
      assert.deepEqual(
        gateway.uploads.map(({ kind }) => kind),
        ['telemetry', 'attributes', 'telemetry'],
      )
    }))

  it('that take long are acknowledged first and answered in a message of their own, until that is acknowledged', () =>
    bench(async ({ gateway, client, clock, transport }) => {
      const device = await client()
      gateway.holding = true
      const id = device.send({ path: TELEMETRY, payload: '{"a":1}', token: 'beef' })
      await gateway.uploaded(1)
      clock.advance(500)
      const acknowledgement = await device.message(0)
      assert.deepEqual([acknowledgement.type, acknowledgement.code, acknowledgement.id], ['ACK', '0.00', id])
      gateway.uploads[0]?.receipt.stored()
      const answer = await device.message(1)
      assert.deepEqual([answer.type, answer.code, answer.token.toString('hex')], ['CON', '2.01', 'beef'])
      clock.advance(3001)
      assert.equal((await device.message(2)).id, answer.id)
      device.reply('ACK', answer.id)
      assert.equal((await device.ask({ path: '/nowhere' })).code, '4.04')
      clock.advance(100_000)
      assert.deepEqual([device.messages.length, transport.figures().retransmitted], [4, 1])
    }))

  it('that come again are done once, and are answered again', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client()
      const asked: Asked = { path: TELEMETRY, payload: '{"a":1}', id: 7 }
      assert.deepEqual(await device.ask(asked), CREATED)
      assert.deepEqual(await device.ask(asked), CREATED)
      const other = await client()
      assert.deepEqual(await other.ask(asked), CREATED)
      assert.deepEqual([gateway.uploads.length, transport.figures().duplicates], [2, 1])
    }))

  it('that were refused may come again under the same id', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      gateway.refusal = DOWN()
      assert.equal((await device.ask({ path: TELEMETRY, payload: '{"a":1}', id: 7 })).code, '5.03')
      gateway.refusal = undefined
      assert.deepEqual(await device.ask({ path: TELEMETRY, payload: '{"a":1}', id: 7 }), CREATED)
    }))

  it('reads that come again are read again, and take no place', () =>
    bench(
      async ({ gateway, client }) => {
        const device = await client()
        await device.ask({ path: TELEMETRY, payload: '{"a":1}', id: 1 })
        for (const id of [2, 3, 4, 2])
          assert.equal((await device.ask({ path: ATTRIBUTES, code: GET, id })).code, '4.04')
        gateway.answer = { client: [{ key: 'a', type: 'LONG', value: 1 }], shared: [] }
        for (const id of [5, 6, 5]) assert.equal((await device.ask({ path: ATTRIBUTES, code: GET, id })).code, '2.05')
        await device.ask({ path: TELEMETRY, payload: '{"a":1}', id: 1 })
        assert.equal(gateway.uploads.length, 1)
      },
      { maxExchanges: 2 },
    ))

  it('whose answers are large are forgotten sooner', () =>
    bench(
      async ({ gateway, client }) => {
        const device = await client()
        gateway.reply = JSON.stringify('x'.repeat(900))
        const call = { path: '/api/v1/one/rpc', payload: '{"method":"m","params":{}}' }
        await device.ask({ path: TELEMETRY, payload: '{"a":1}', id: 1 })
        for (const id of [2, 3]) await device.ask({ ...call, id })
        await device.ask({ path: TELEMETRY, payload: '{"a":1}', id: 1 })
        assert.equal(gateway.uploads.length, 2)
      },
      { maxExchanges: 4 },
    ))

  it('are forgotten after their lifetime, and beyond the bound', () =>
    bench(
      async ({ gateway, client, clock }) => {
        const device = await client()
        const again = (id: number) => device.ask({ path: TELEMETRY, payload: '{"a":1}', id })
        for (const id of [1, 2, 3, 1]) await again(id)
        assert.equal(gateway.uploads.length, 4)
        clock.advance(247_000)
        await again(1)
        assert.equal(gateway.uploads.length, 5)
      },
      { maxExchanges: 2 },
    ))

  it('are refused with what is wrong', () =>
    bench(
      async ({ gateway, client, lines }) => {
        const device = await client()
        const code = async (asked: Asked): Promise<string> => (await device.ask(asked)).code
        assert.equal(await code({ path: TELEMETRY, payload: '{' }), '4.00')
        assert.equal(await code({ path: ATTRIBUTES, payload: '[1]' }), '4.00')
        assert.equal(await code({ path: '/api/v1/nobody/telemetry', payload: '{}' }), '4.01')
        assert.equal(await code({ path: '/api/v1/telemetry', payload: '{}' }), '4.01')
        assert.equal(await code({ path: '/api/v1//telemetry', payload: '{}' }), '4.01')
        assert.equal(await code({ path: '/api/v1', payload: '{}' }), '4.00')
        assert.equal(await code({ path: '/api/v1/one/nothing', payload: '{}' }), '4.00')
        assert.equal(await code({ path: '/elsewhere', payload: '{}' }), '4.04')
        assert.equal(await code({ path: TELEMETRY, code: '0.03', payload: '{}' }), '4.05')
        assert.equal(await code({ path: TELEMETRY, code: GET }), '4.00')
        assert.equal(await code({ path: TELEMETRY, payload: `{"a":"${'x'.repeat(200)}"}` }), '4.13')
        const critical = { number: 2049, value: Buffer.from('1') }
        assert.equal(await code({ path: TELEMETRY, payload: '{}', options: [critical] }), '4.02')
        gateway.refusal = LIMIT()
        assert.equal(await code({ path: TELEMETRY, payload: '{"a":1}' }), '4.29')
        gateway.refusal = undefined
        gateway.storeFails = true
        gateway.cold = true
        assert.equal(await code({ path: TELEMETRY, payload: '{"a":1}' }), '5.00')
        assert.equal(lines.length, 1)
      },
      { maxPayloadBytes: 100 },
    ))

  it('are refused where the profile is for another transport', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      const types = ['DEFAULT', 'COAP', 'MQTT']
      const codes = []
      for (const transportType of types) {
        gateway.lookUp = () => ({ ...deviceNamed('one'), transportType })
        codes.push((await device.ask({ path: TELEMETRY, payload: '{"a":1}' })).code)
      }
      assert.deepEqual(codes, ['2.01', '2.01', '4.03'])
    }))

  it('wait for nothing where the platform has no room', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      const full = gateway.becomeFull()
      assert.equal((await device.ask({ path: TELEMETRY, payload: '{"a":1}' })).code, '5.03')
      await full
      assert.equal(gateway.uploads.length, 0)
    }))

  it('an option of a length that it has not, and one too many, are as one that nobody knows (RFC 7252, 5.4.3, 5.4.5)', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      const option = (number: number, hex: string) => ({ number, value: Buffer.from(hex, 'hex') })
      const asked = async (...options: readonly ReturnType<typeof option>[]) => {
        const { code, format } = await device.ask({ path: ATTRIBUTES, code: GET, options })
        return [code, format]
      }
      gateway.answer = { client: [{ key: 'a', type: 'LONG', value: 1 }], shared: [] }
      assert.deepEqual(await asked(option(12, '3c')), ['2.05', 60])
      // Elective: passed over, and not echoed.
      assert.deepEqual(await asked(option(12, '01003c')), ['2.05', 50])
      assert.deepEqual(await asked(option(12, '3c'), option(12, '2a')), ['2.05', 60])
      assert.deepEqual(await asked(option(6, '00000000')), ['2.05', 50])
      // Critical.
      for (const wrong of [option(17, '000032'), option(7, '001633'), option(23, '00000000'), option(27, '00000000')])
        assert.deepEqual(await asked(wrong), ['4.02', undefined])
      assert.deepEqual(await asked(option(15, '61'.repeat(256))), ['4.02', undefined])
      assert.deepEqual(await asked(option(17, '32'), option(17, '3c')), ['4.02', undefined])
    }))

  it('an elective option that nobody knows is passed over, a path in one segment is split', () =>
    bench(async ({ client }) => {
      const device = await client()
      const elective = { number: 2050, value: Buffer.from('1') }
      assert.deepEqual(await device.ask({ path: TELEMETRY, payload: '{"a":1}', options: [elective] }), CREATED)
      const whole = { number: 11, value: Buffer.from('api/v1/one/telemetry') }
      assert.deepEqual(await device.ask({ path: '', payload: '{"a":1}', options: [whole] }), CREATED)
    }))
})

describe('CoAP messages', () => {
  it('a ping and what is no request are reset, rubbish where it can be', () =>
    bench(async ({ client, transport }) => {
      const device = await client()
      for (const [index, hex] of ['40001234', '40451234', '40e11234', '4f021234'].entries()) {
        device.sendBytes(Buffer.from(hex, 'hex'))
        const message = await device.message(index)
        assert.deepEqual([message.type, message.code, message.id], ['RST', '0.00', 0x1234])
      }
      for (const hex of ['', '80', '80011234', '5f021234', '50001234']) device.sendBytes(Buffer.from(hex, 'hex'))
      assert.deepEqual(await device.ask({ path: TELEMETRY, payload: '{"a":1}' }), CREATED)
      assert.equal(transport.figures().malformed, 5)
    }))
})

describe('CoAP strangers', () => {
  it('are told once that their token is unknown, however long that took to find out', () =>
    bench(async ({ gateway, client, clock, transport }) => {
      const device = await client()
      const { promise, resolve } = Promise.withResolvers<undefined>()
      gateway.cold = true
      gateway.authenticate = () => promise
      device.send({ path: '/api/v1/nobody/telemetry', payload: '{"a":1}' })
      device.sendBytes(Buffer.from('40001234', 'hex'))
      await device.message(0)
      clock.advance(500)
      await device.message(1)
      resolve(undefined)
      assert.deepEqual([(await device.message(2)).type, (await device.message(2)).code], ['NON', '4.01'])
      clock.advance(100_000)
      assert.equal(transport.figures().retransmitted, 0)
    }))

  it('can not take the thread with large datagrams, nor the places of others with blocks', () =>
    bench(
      async ({ client, transport }) => {
        const device = await client()
        const large = await device.ask({ path: TELEMETRY, payload: 'x'.repeat(3000) })
        assert.deepEqual([large.type, large.code], ['ACK', '4.13'])
        const block = { number: 0, isMore: true, size: 16 }
        const begun = { path: '/api/v1/provision', payload: 'x'.repeat(16), block1: block }
        assert.equal((await device.ask(begun)).code, '2.31')
        assert.equal((await (await client()).ask(begun)).code, '5.03')
        assert.equal((await device.ask({ ...begun, path: TELEMETRY })).code, '2.31')
        assert.equal(transport.figures().malformed, 1)
      },
      { maxStrangerTransfers: 1 },
    ))

  it('an address takes no more than its share of the transfers without a token', () =>
    bench(
      async ({ client }) => {
        const block = (number: number, isMore: boolean) => ({ number, isMore, size: 16 })
        const begun = { path: '/api/v1/provision', payload: 'x'.repeat(16), block1: block(0, true) }
        const codes: string[] = []
        for (let count = 0; count < 5; count++) codes.push((await (await client()).ask(begun)).code)
        assert.deepEqual(codes, ['2.31', '2.31', '5.03', '5.03', '5.03'])
        const elsewhere = await client('127.0.0.2')
        assert.equal((await elsewhere.ask(begun)).code, '2.31')
        const { code } = await elsewhere.ask({ ...begun, payload: '}', block1: block(1, false) })
        assert.equal(code, '4.00')
      },
      { maxStrangerTransfers: 20 },
    ))

  it('where all places for transfers without a token are taken the oldest gives way', () =>
    bench(
      async ({ client }) => {
        const block = (number: number) => ({ number, isMore: true, size: 16 })
        const begun = { path: '/api/v1/provision', payload: 'x'.repeat(16), block1: block(0) }
        const [first, second, third] = [await client(), await client('127.0.0.2'), await client('127.0.0.3')]
        for (const each of [first, second, third]) assert.equal((await each.ask(begun)).code, '2.31')
        const next = { ...begun, block1: block(1) }
        assert.deepEqual(
          [(await first.ask(next)).code, (await second.ask(next)).code, (await third.ask(next)).code],
          ['4.08', '2.31', '2.31'],
        )
      },
      { maxStrangerTransfers: 2 },
    ))
})

describe('CoAP blocks', () => {
  it('of the answer to a call are read without calling again', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      gateway.reply = JSON.stringify('x'.repeat(150))
      const call = { path: '/api/v1/one/rpc', payload: '{"method":"m","params":{}}' }
      const block2 = (number: number) => ({ number, isMore: false, size: 64 })
      const first = await device.ask({ ...call, block2: block2(0) })
      const rest = []
      for (const number of [1, 2]) rest.push(await device.ask({ ...call, payload: '', block2: block2(number) }))
      assert.equal([first, ...rest].map(({ text }) => text).join(''), gateway.reply)
      assert.equal((await device.ask({ ...call, block2: block2(1) })).code, '4.08')
      assert.equal([...gateway.sessions].flatMap(({ serverCalls }) => serverCalls).length, 1)
    }))

  const body = JSON.stringify({ text: 'x'.repeat(100) })
  const blocks = (size: number): Asked[] => {
    const count = Math.ceil(body.length / size)
    return Array.from({ length: count }, (_, number) => ({
      path: TELEMETRY,
      payload: body.slice(number * size, (number + 1) * size),
      block1: { number, isMore: number < count - 1, size },
    }))
  }

  it('of a request are put together', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client()
      const answers = []
      for (const block of blocks(32)) answers.push(await device.ask(block))
      assert.deepEqual(
        answers.map(({ code, block1 }) => [code, block1]),
        [
          ['2.31', '0/more/32'],
          ['2.31', '1/more/32'],
          ['2.31', '2/more/32'],
          ['2.01', '3/last/32'],
        ],
      )
      assert.equal(gateway.uploads[0]?.groups[0]?.entries[0]?.value, 'x'.repeat(100))
      assert.equal(transport.figures().blockTransfers, 0)
    }))

  it('that miss one, begin late or are too large are refused, and nothing is kept of them', () =>
    bench(
      async ({ gateway, client, transport }) => {
        const device = await client()
        const [first, second, third] = blocks(32)
        assert.ok(first !== undefined && second !== undefined && third !== undefined)
        assert.equal((await device.ask(second)).code, '4.08')
        assert.equal((await device.ask(first)).code, '2.31')
        assert.equal((await device.ask(third)).code, '4.08')
        assert.equal((await device.ask(first)).code, '2.31')
        assert.equal((await device.ask(second)).code, '2.31')
        assert.equal((await device.ask(third)).code, '4.13')
        assert.equal((await device.ask({ ...first, payload: 'x' })).code, '4.00')
        assert.equal((await device.ask({ ...first, path: '/api/v1/nobody/telemetry' })).code, '4.01')
        assert.deepEqual([gateway.uploads.length, transport.figures().blockTransfers], [0, 0])
      },
      { maxPayloadBytes: 90 },
    ))

  it('of one tenant leave room for another, and are given up after a silence', () =>
    bench(
      async ({ client, clock, transport }) => {
        const [first] = blocks(32)
        assert.ok(first !== undefined)
        const [one, two, foreign] = [await client(), await client(), await client()]
        assert.equal((await one.ask(first)).code, '2.31')
        assert.equal((await two.ask({ ...first, path: '/api/v1/two/telemetry' })).code, '5.03')
        assert.equal((await foreign.ask({ ...first, path: '/api/v1/foreign/telemetry' })).code, '2.31')
        clock.advance(60_000)
        assert.equal(transport.figures().blockTransfers, 0)
        assert.equal((await two.ask({ ...first, path: '/api/v1/two/telemetry' })).code, '2.31')
      },
      { maxBlockTransfers: 2, maxBlockTransfersPerTenant: 1 },
    ))

  it('of an answer are of one answer, though values change meanwhile', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client()
      const asked = (number?: number): Asked => ({
        path: ATTRIBUTES,
        code: GET,
        ...(number === undefined ? {} : { block2: { number, isMore: false, size: 64 } }),
      })
      gateway.answer = { client: [], shared: [{ key: 'a', type: 'STRING', value: 'x'.repeat(100) }] }
      const first = await device.ask(asked(0))
      gateway.answer = { client: [], shared: [{ key: 'a', type: 'STRING', value: 'y'.repeat(100) }] }
      const second = await device.ask(asked(1))
      assert.deepEqual([first.block2, second.block2], ['0/more/64', '1/last/64'])
      assert.equal(first.text + second.text, `{"shared":{"a":"${'x'.repeat(100)}"}}`)
      assert.equal(transport.figures().blockTransfers, 0)
      assert.equal((await device.ask(asked())).block2, undefined)
      assert.equal((await device.ask(asked(5))).code, '4.00')
    }))
})

describe('CoAP attributes', () => {
  it('are answered by scope, and not found where there is nothing', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      const asked = { path: ATTRIBUTES, code: GET, query: ['clientKeys=a,b', 'sharedKeys=c'] }
      assert.equal((await device.ask(asked)).code, '4.04')
      gateway.answer = { client: [{ key: 'a', type: 'LONG', value: 1 }], shared: [] }
      const found = { type: 'ACK', code: '2.05', text: '{"client":{"a":1}}', format: 50 }
      assert.deepEqual(await device.ask(asked), found)
      const requests = [...gateway.sessions].flatMap(({ requests }) => requests)
      assert.deepEqual(requests[1], { clientKeys: ['a', 'b'], sharedKeys: ['c'] })
    }))
})

describe('CoAP onboarding and calls of the device', () => {
  it('provisions, claims and calls the rule engine', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      const keys = '{"provisionDeviceKey":"k","provisionDeviceSecret":"s"}'
      const unknown = await device.ask({ path: '/api/v1/provision', payload: keys })
      assert.deepEqual([unknown.code, unknown.format], ['4.00', 0])
      gateway.provisioned = { status: 'SUCCESS', credentialsType: 'ACCESS_TOKEN', credentialsValue: 'tok' }
      const done = await device.ask({ path: '/api/v1/provision', payload: keys })
      assert.deepEqual(
        [done.code, JSON.parse(done.text)],
        ['2.01', { credentialsType: 'ACCESS_TOKEN', credentialsValue: 'tok', status: 'SUCCESS' }],
      )
      assert.equal(gateway.provisions[0]?.[1], '127.0.0.1')
      assert.deepEqual(await device.ask({ path: '/api/v1/one/claim' }), CREATED)
      gateway.reply = '{"now":1}'
      const answer = await device.ask({ path: '/api/v1/one/rpc', payload: '{"method":"m","params":{}}' })
      assert.deepEqual([answer.code, answer.text], ['2.05', '{"now":1}'])
      gateway.reply = '{"error":"timeout"}'
      const late = await device.ask({ path: '/api/v1/one/rpc', payload: '{"method":"m","params":{}}' })
      assert.equal(late.code, '5.04')
      assert.equal((await device.ask({ path: '/api/v1/one/rpc', payload: '{"params":{}}' })).code, '4.00')
      assert.deepEqual(await device.ask({ path: '/api/v1/one/rpc/7', payload: '{"v":1}' }), CREATED)
      assert.equal((await device.ask({ path: '/api/v1/one/rpc/7', payload: '5' })).code, '4.00')
      assert.equal((await device.ask({ path: '/api/v1/one/rpc/x', payload: '{}' })).code, '4.00')
      assert.deepEqual(
        [...gateway.sessions].flatMap(({ callAnswers }) => callAnswers),
        [[7, '{"v":1}']],
      )
    }))
})

describe('CoAP packages', () => {
  it('are loaded in blocks, or in parts of a size', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      const image = Buffer.from('0123456789abcdef0123456789')
      gateway.downloadPackage = (_device, { size, chunk }) =>
        Promise.resolve({
          ...gateway.package,
          wholeBytes: image.length,
          bytes: image.subarray(size * chunk, size * (chunk + 1)),
        })
      const block = (number: number) => ({ number, isMore: false, size: 16 })
      const first = await device.ask({ path: '/fw/one', code: GET, block2: block(0) })
      const second = await device.ask({ path: '/fw/one', code: GET, block2: block(1) })
      assert.deepEqual([first.text, first.block2], ['0123456789abcdef', '0/more/16'])
      assert.deepEqual([second.text, second.block2], ['0123456789', '1/last/16'])
      const whole = await device.ask({ path: '/sw/one', code: GET })
      assert.deepEqual([whole.text, whole.block2], [image.toString(), undefined])
      const part = await device.ask({ path: '/fw/one', code: GET, query: ['size=10', 'chunk=2'] })
      assert.equal(part.text, '456789')
      assert.equal((await device.ask({ path: '/fw/one', code: GET, query: ['size=x'] })).code, '4.00')
      assert.equal((await device.ask({ path: '/fw/one' })).code, '4.05')
      assert.equal((await device.ask({ path: '/fw/nobody', code: GET })).code, '4.01')
    }))
})
