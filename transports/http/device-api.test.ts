import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import type { FakeGateway } from '../testkit.ts'
import { bench, type Answer } from './testkit.ts'

const Refusals = defineErrors('test', {
  BUSY: { kind: 'retryable', status: 503, text: 'busy' },
  WRONG: { kind: 'denied', status: 429, text: 'too often' },
  BROKEN: { kind: 'terminal', status: 507, text: 'the disk is full' },
})

function errorOf(answer: Answer): { message: string; errorCode: number; status: number; timestamp: number } {
  assert.equal(answer.type, 'application/json')
  return JSON.parse(answer.text) as { message: string; errorCode: number; status: number; timestamp: number }
}

describe('HTTP device API', () => {
  it('answers an upload only when its receipt says stored, with an empty 200', () =>
    bench(async ({ gateway, call, figures }) => {
      gateway.holding = true
      let answered = false
      const posted = call('POST', '/api/v1/one/telemetry', '{"a":1}').then((answer) => {
        answered = true
        return answer
      })
      await gateway.uploaded(1)
      // A whole other request is answered meanwhile.
      assert.equal((await call('GET', '/api/v1/one/attributes')).status, 200)
      assert.equal(answered, false)
      assert.equal(figures().acknowledged, 0)
      gateway.uploads[0]?.receipt.stored()
      assert.deepEqual(await posted, { status: 200, type: null, allow: null, text: '' })
    }))

  it('takes telemetry in every shape and attributes, with known and with unknown tokens alike', () =>
    bench(async ({ gateway, call }) => {
      for (const cold of [false, true]) {
        gateway.cold = cold
        for (const body of ['{"a":1}', '[{"a":1},{"ts":1,"values":{"b":2}}]', '{}', '[]', '{"ts":5}']) {
          assert.equal((await call('POST', '/api/v1/one/telemetry', body)).status, 200, body)
        }
        assert.equal((await call('POST', '/api/v1/two/attributes', '{"a":"x"}')).status, 200)
      }
      assert.equal(gateway.uploads.length, 12)
      assert.equal(gateway.uploads[5]?.kind, 'attributes')
      assert.equal(gateway.uploads[5].device, 'two')
    }))

  it('answers 401 without a body to a token nobody has, on every path', () =>
    bench(async ({ call, figures }) => {
      for (const [method, path] of [
        ['POST', 'telemetry'],
        ['POST', 'attributes'],
        ['GET', 'attributes'],
        ['GET', 'attributes/updates'],
        ['GET', 'rpc?timeout=500'],
      ] as const) {
        const answer = await call(method, `/api/v1/no-such-token/${path}`, method === 'POST' ? '{"a":1}' : undefined)
        assert.deepEqual([answer.status, answer.text], [401, ''], path)
      }
      assert.equal(figures().unauthenticated, 5)
    }))

  const BAD: readonly [string, string, RegExp][] = [
    ['telemetry', '{"a":', /Invalid JSON/],
    ['telemetry', '', /empty/],
    ['telemetry', '"x"', /^Can't parse value: "x"$/],
    ['telemetry', '[1]', /^Can't parse value: \[1\]$/],
    ['telemetry', 'null', /^Can't parse value: null$/],
    ['telemetry', '{"ts":"x","values":{"a":1}}', /ts/],
    ['telemetry', '{"ts":1,"values":5}', /parse/],
    ['telemetry', '['.repeat(5000), /nested/],
    ['attributes', '[{"a":1}]', /^Can't parse value/],
  ]
  for (const [path, body, message] of BAD) {
    it(`answers 400 in the platform's error body to ${JSON.stringify(body.slice(0, 30))} as ${path}`, () =>
      bench(async ({ gateway, call, clock }) => {
        const answer = await call('POST', `/api/v1/one/${path}`, body)
        const error = errorOf(answer)
        assert.deepEqual([answer.status, error.status, error.errorCode, error.timestamp], [400, 400, 31, clock.now()])
        assert.match(error.message, message)
        assert.equal(gateway.uploads.length, 0)
      }))
  }

  it('answers 405 with what is allowed to a wrong method, and 404 to paths it does not have', () =>
    bench(async ({ call }) => {
      const wrong = await call('GET', '/api/v1/one/telemetry')
      assert.deepEqual([wrong.status, wrong.allow], [405, 'POST'])
      assert.equal(errorOf(wrong).message, "Request method 'GET' is not supported")
      assert.equal((await call('DELETE', '/api/v1/one/attributes')).allow, 'GET, POST')
      const missing = await call('GET', '/api/v1/one/nowhere/at/all')
      assert.equal(missing.status, 404)
      assert.equal(errorOf(missing).message, 'No static resource api/v1/one/nowhere/at/all.')
      assert.equal((await call('GET', '/api/v1/one')).status, 404)
    }))

  it('answers pages of other origins: the preflight without a token, and every answer with their origin', () =>
    bench(async ({ url }) => {
      const from = { origin: 'https://panel.example' }
      const asked = { ...from, 'access-control-request-headers': 'content-type' }
      const preflight = await fetch(`${url}/api/v1/nobody/telemetry`, { method: 'OPTIONS', headers: asked })
      assert.equal(preflight.status, 200)
      assert.equal(preflight.headers.get('access-control-allow-headers'), 'content-type')
      for (const [token, status] of [
        ['one', 200],
        ['nobody', 401],
      ] as const) {
        const body = '{"a":1}'
        const answer = await fetch(`${url}/api/v1/${token}/telemetry`, { method: 'POST', headers: from, body })
        assert.equal(answer.status, status)
        assert.equal(answer.headers.get('access-control-allow-origin'), from.origin)
      }
    }))

  it('answers 413 to a body over the limit', () =>
    bench(
      async ({ gateway, call }) => {
        const answer = await call('POST', '/api/v1/one/telemetry', `{"a":"${'x'.repeat(2000)}"}`)
        assert.equal(answer.status, 413)
        assert.equal(gateway.uploads.length, 0)
      },
      { maxBodyBytes: 1000 },
    ))

  it('answers 503 while there is no room, and what a refusal says otherwise', () =>
    bench(async ({ gateway, call }) => {
      gateway.refusal = Refusals.BUSY()
      assert.equal((await call('POST', '/api/v1/one/telemetry', '{"a":1}')).status, 503)
      gateway.refusal = Refusals.BROKEN()
      assert.equal((await call('POST', '/api/v1/one/telemetry', '{"a":1}')).status, 507)
      gateway.refusal = undefined
      void gateway.becomeFull()
      assert.equal((await call('POST', '/api/v1/one/telemetry', '{"a":1}')).status, 503)
      assert.equal(gateway.uploads.length, 2)
    }))

  it('answers attributes with empty scopes left out, asked by keys or all', () =>
    bench(async ({ gateway, call }) => {
      gateway.answer = {
        client: [{ key: 'fw', type: 'STRING', value: '1' }],
        shared: [{ key: 'target', type: 'DOUBLE', value: 20 }],
      }
      const answer = await call('GET', '/api/v1/one/attributes?clientKeys=fw,n&sharedKeys=target')
      assert.equal(answer.text, '{"client":{"fw":"1"},"shared":{"target":20.0}}')
      await call('GET', '/api/v1/one/attributes?clientKeys=fw')
      await call('GET', '/api/v1/one/attributes?clientKeys=')
      await call('GET', '/api/v1/one/attributes?sharedKeys=target&clientKeys=fw,n&sharedKeys=mode')
      const [session] = gateway.sessions
      assert.deepEqual(session?.requests, [
        { clientKeys: ['fw', 'n'], sharedKeys: ['target'] },
        { clientKeys: ['fw'], sharedKeys: undefined },
        { clientKeys: 'all', sharedKeys: 'all' },
        { clientKeys: ['fw', 'n'], sharedKeys: ['target', 'mode'] },
      ])
    }))
})

describe('HTTP packages', () => {
  it('are answered as files, whole or in the part that is asked for', () =>
    bench(async ({ url, gateway }) => {
      const answer = await fetch(`${url}/api/v1/one/firmware?title=fw&version=1`)
      assert.deepEqual([answer.status, await answer.text()], [200, '0123'])
      assert.equal(answer.headers.get('content-disposition'), 'attachment;filename=fw.bin')
      gateway.package = {
        packageId: 'package',
        title: 'fw',
        version: '1',
        fileName: 'a"\r\nb;',
        contentType: 'no type',
        wholeBytes: 4,
        bytes: Buffer.alloc(0),
        release: () => undefined,
      }
      const part = await fetch(`${url}/api/v1/two/software?title=fw&version=1&size=10&chunk=3`)
      assert.deepEqual([part.status, part.headers.get('x-filename')], [200, 'a___b_'])
      assert.equal(part.headers.get('content-type'), 'application/octet-stream')
      assert.deepEqual(gateway.downloads, [
        ['one', { kind: 'FIRMWARE', title: 'fw', version: '1', size: 0, chunk: 0 }],
        ['two', { kind: 'SOFTWARE', title: 'fw', version: '1', size: 10, chunk: 3 }],
      ])
    }))

  it('need a title, a version, numbers and a token', () =>
    bench(async ({ call, gateway }) => {
      for (const query of ['', 'title=a', 'version=1', 'title=a&version=1&size=x', 'title=a&version=1&chunk=-1'])
        assert.equal((await call('GET', `/api/v1/one/firmware?${query}`)).status, 400, query)
      assert.equal((await call('GET', '/api/v1/nobody/firmware?title=a&version=1')).status, 401)
      assert.equal((await call('POST', '/api/v1/one/firmware', '{}')).status, 405)
      assert.deepEqual(gateway.downloads, [])
    }))
})

describe('HTTP long poll', () => {
  async function waiting(gateway: FakeGateway): Promise<void> {
    while (![...gateway.sessions].some((session) => session.subscribed)) await new Promise(setImmediate)
  }

  it('is answered by the first update and holds nothing afterwards', () =>
    bench(async ({ gateway, call, figures }) => {
      const poll = call('GET', '/api/v1/one/attributes/updates?timeout=8000')
      await waiting(gateway)
      for (const session of gateway.sessions) {
        session.listener.sharedAttributesChanged({ kind: 'updated', entries: [{ key: 'a', type: 'LONG', value: 1 }] })
        session.listener.sharedAttributesChanged({ kind: 'deleted', keys: ['a'] })
      }
      assert.deepEqual(await poll, { status: 200, type: 'application/json', allow: null, text: '{"a":1}' })
      assert.equal(gateway.sessions.size, 0)
      assert.equal(figures().waitingPolls, 0)
    }))

  it('for calls is answered by the next one, which it says it has', () =>
    bench(async ({ gateway, call }) => {
      const poll = call('GET', '/api/v1/one/rpc?timeout=8000')
      while (![...gateway.sessions].some(({ listening }) => listening === 'next')) await new Promise(setImmediate)
      const [session] = gateway.sessions
      session?.listener.called?.({ id: 3, method: 'reboot', params: '{"now":1}' })
      assert.equal((await poll).text, '{"id":3,"method":"reboot","params":{"now":1}}')
      assert.deepEqual(session?.deliveries, [[3, 'DELIVERED']])
      assert.equal((await call('POST', '/api/v1/one/rpc/3', '{"ok":1}')).status, 200)
      const [answering] = gateway.sessions
      assert.deepEqual(answering?.callAnswers, [[3, '{"ok":1}']])
      assert.equal((await call('POST', '/api/v1/one/rpc/three', '{}')).status, 400)
    }))

  it('calls the rule engine and gets its answer; a call needs a method and params', () =>
    bench(async ({ gateway, call }) => {
      gateway.reply = '{"time":1}'
      assert.equal((await call('POST', '/api/v1/one/rpc', '{"method":"getTime","params":{}}')).text, '{"time":1}')
      assert.equal((await call('POST', '/api/v1/one/rpc', '{"method":"getTime"}')).status, 400)
      assert.equal((await call('POST', '/api/v1/one/rpc', '{"params":{}}')).status, 400)
    }))

  it('is answered 408 when its time has passed', () =>
    bench(async ({ gateway, call, clock }) => {
      const poll = call('GET', '/api/v1/one/attributes/updates?timeout=1000')
      await waiting(gateway)
      clock.advance(999)
      assert.equal(gateway.sessions.size, 1)
      clock.advance(1)
      assert.deepEqual([(await poll).status, (await poll).text], [408, ''])
      assert.equal((await call('GET', '/api/v1/one/attributes/updates?timeout=soon')).status, 400)
    }))

  it('is told when its device is deleted', () =>
    bench(async ({ gateway, call }) => {
      const poll = call('GET', '/api/v1/one/attributes/updates')
      await waiting(gateway)
      for (const session of gateway.sessions) session.listener.closed('DEVICE_DELETED')
      assert.deepEqual([(await poll).status, (await poll).text], [403, 'Device was deleted!'])
    }))

  it('is answered 503 at the close, and so is every later one', () =>
    bench(async ({ gateway, call, close, figures }) => {
      const poll = call('GET', '/api/v1/one/attributes/updates')
      await waiting(gateway)
      close()
      assert.equal((await poll).status, 503)
      assert.equal(figures().waitingPolls, 0)
      assert.equal((await call('GET', '/api/v1/two/attributes/updates')).status, 503)
      assert.equal(gateway.sessions.size, 0)
      assert.equal((await call('POST', '/api/v1/one/telemetry', '{"a":1}')).status, 200)
    }))

  it('ends with a client that goes away, and more than its bound get 503', () =>
    bench(
      async ({ gateway, call, figures }) => {
        const gone = new AbortController()
        const poll = call('GET', '/api/v1/one/attributes/updates', undefined, gone.signal)
        await waiting(gateway)
        assert.equal((await call('GET', '/api/v1/two/attributes/updates')).status, 503)
        gone.abort()
        await assert.rejects(poll)
        while (figures().waitingPolls > 0) await new Promise(setImmediate)
        assert.equal(gateway.sessions.size, 0)
      },
      { maxWaitingPolls: 1 },
    ))

  it('issue-8 2.10: leave room for another tenant when one has its share, and give it back', () =>
    bench(
      async ({ gateway, call, clock, figures }) => {
        const poll = call('GET', '/api/v1/one/attributes/updates')
        await waiting(gateway)
        assert.equal((await call('GET', '/api/v1/two/attributes/updates')).status, 503)
        const foreign = call('GET', '/api/v1/foreign/attributes/updates')
        while (figures().waitingPolls < 2) await new Promise(setImmediate)
        clock.advance(60_000)
        assert.deepEqual([(await poll).status, (await foreign).status], [408, 408])
        const again = call('GET', '/api/v1/two/attributes/updates')
        while (figures().waitingPolls < 1) await new Promise(setImmediate)
        clock.advance(60_000)
        assert.equal((await again).status, 408)
      },
      { maxWaitingPolls: 3, maxWaitingPollsPerTenant: 1 },
    ))
})

describe('bounds of the HTTP device API', () => {
  it('takes 64 KiB of a call, and more of an upload', () =>
    bench(async ({ gateway, call }) => {
      const long = JSON.stringify({ method: 'm', params: 'x'.repeat(70_000) })
      for (const path of ['rpc', 'rpc/1']) {
        const refused = await call('POST', `/api/v1/one/${path}`, long)
        assert.deepEqual([refused.status, refused.text], [413, '"Payload size exceeds the limit of 65536 bytes"'])
      }
      assert.equal((await call('POST', '/api/v1/one/attributes', long)).status, 200)
      await gateway.uploaded(1)
    }))

  it('waits as long as without one where the time of a poll is empty', () =>
    bench(async ({ call, clock, figures }) => {
      const poll = call('GET', '/api/v1/one/attributes/updates?timeout=')
      while (figures().waitingPolls === 0) await new Promise(setImmediate)
      clock.advance(60_000)
      assert.equal((await poll).status, 408)
    }))
})

describe('onboarding over HTTP', () => {
  it('takes offers to be claimed, with and without a body', () =>
    bench(async ({ gateway, call }) => {
      assert.equal((await call('POST', '/api/v1/one/claim', '{"secretKey":"k","durationMs":"60000"}')).status, 200)
      assert.deepEqual(await call('POST', '/api/v1/one/claim'), { status: 200, type: null, allow: null, text: '' })
      const [session] = gateway.sessions
      assert.deepEqual(session?.offers, [
        { secretKey: 'k', durationMs: 60_000 },
        { secretKey: '', durationMs: 0 },
      ])
      for (const body of ['{', '[]', '{"durationMs":"soon"}', '{"secretKey":{}}'])
        assert.equal((await call('POST', '/api/v1/one/claim', body)).status, 400, body)
      assert.equal((await call('POST', '/api/v1/nobody/claim', '{}')).status, 401)
      assert.equal((await call('GET', '/api/v1/one/claim')).allow, 'POST')
    }))

  it('gives credentials as text, whether it succeeds or not, and refuses what is no request', () =>
    bench(async ({ gateway, call }) => {
      const body = '{"deviceName":"d","provisionDeviceKey":"k","provisionDeviceSecret":"s"}'
      const missing = await call('POST', '/api/v1/provision', body)
      assert.deepEqual([missing.status, missing.type], [200, 'text/plain;charset=UTF-8'])
      assert.deepEqual(JSON.parse(missing.text), { errorMsg: 'Provision data was not found!', status: 'NOT_FOUND' })
      gateway.provisioned = { status: 'SUCCESS', credentialsType: 'ACCESS_TOKEN', credentialsValue: 't' }
      const { text } = await call('POST', '/api/v1/provision', body)
      assert.equal(text, '{"credentialsValue":"t","credentialsType":"ACCESS_TOKEN","status":"SUCCESS"}')
      assert.equal(gateway.provisions[0]?.[1], '127.0.0.1')
      const field = errorOf(await call('POST', '/api/v1/provision', '{"deviceName":"x"}'))
      assert.equal(field.message, 'Failed to find the field provisionDeviceKey in JSON body {"deviceName":"x"}!')
      const type = await call('POST', '/api/v1/provision', body.replace('}', ',"credentialsType":"OTHER"}'))
      assert.equal(errorOf(type).status, 400)
      for (const wrong of ['', '{', '[]']) assert.equal((await call('POST', '/api/v1/provision', wrong)).status, 400)
      gateway.provisioned = Refusals.WRONG()
      assert.equal((await call('POST', '/api/v1/provision', body)).status, 429)
      gateway.provisioned = Refusals.BUSY()
      assert.equal((await call('POST', '/api/v1/provision', body)).status, 503)
      assert.equal((await call('GET', '/api/v1/provision')).status, 405)
    }))
})
