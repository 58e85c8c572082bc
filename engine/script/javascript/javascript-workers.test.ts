import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { CompiledScript, ScriptKind } from '../script.ts'
import { createJavaScriptWorkers } from './javascript-workers.ts'
import { handClock, outcomesOf, scriptMessage } from './testkit.ts'

const clock = handClock()
const workers = createJavaScriptWorkers({ clock, threads: 1, memoryLimitMb: 16, timeoutMs: 500, queueBound: 5000 })
after(() => workers.close())

function compile<Kind extends ScriptKind>(kind: Kind, body: string): Promise<CompiledScript<Kind>> {
  return workers.compile({ language: 'JS', kind, body, tenantId: 'tenant', ownerId: 'node' })
}

async function only<Kind extends ScriptKind>(kind: Kind, body: string, data = '{"temperature":20}'): Promise<unknown> {
  const [outcome] = await outcomesOf(await compile(kind, body), [scriptMessage(data, { unit: 'C' })])
  return outcome
}

describe('JavaScript filter', () => {
  test('answers each message of a batch in its place', async () => {
    const script = await compile(
      'filter',
      'return msg.temperature < 5 && metadata.unit === "C" && msgType === "POST_TELEMETRY_REQUEST"',
    )
    const messages = Array.from({ length: 1300 }, (_, index) =>
      scriptMessage(`{"temperature":${index % 10}}`, { unit: 'C' }),
    )
    const outcomes = await outcomesOf(script, messages)
    assert.deepEqual(
      outcomes,
      messages.map((_, index) => index % 10 < 5),
    )
  })

  for (const [value, actual] of [
    ['"true"', 'string'],
    ['1', 'number'],
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['[true]', 'array'],
    ['{ then: function (f) { f(true) } }', 'object'],
  ] as const) {
    test(`refuses the result ${value}`, async () => {
      assert.equal(await only('filter', `return ${value}`), `Wrong result type: ${actual}, expected boolean`)
    })
  }
})

describe('JavaScript switch', () => {
  test('answers one relation or several', async () => {
    assert.deepEqual(await only('switch', 'return "High"'), ['High'])
    assert.deepEqual(await only('switch', 'return ["High", "Other"]'), ['High', 'Other'])
  })

  test('refuses what is no relation', async () => {
    assert.match(String(await only('switch', 'return ["High", 1]')), /^Wrong result type: array with number/)
    assert.match(String(await only('switch', 'return {}')), /^Wrong result type: object/)
  })
})

describe('JavaScript transformation', () => {
  test('answers what the script changed and leaves out what it kept', async () => {
    assert.deepEqual(await only('transform', 'msg.f = msg.temperature * 2; return { msg: msg }'), [
      { data: '{"temperature":20,"f":40}' },
    ])
    assert.deepEqual(await only('transform', 'return {}'), [{}])
    assert.deepEqual(await only('transform', 'return { msg: null, msgType: "" }'), [{ data: 'null' }])
    assert.deepEqual(await only('transform', 'return { msgType: null }'), [{ type: 'null' }])
  })

  test('turns scalars of metadata into texts, drops null and refuses objects', async () => {
    const [changed] = (await only(
      'transform',
      'metadata.n = 1; metadata.b = true; metadata.no = null; return { metadata: metadata }',
    )) as [{ metadata: object }]
    assert.deepEqual({ ...changed.metadata }, { unit: 'C', n: '1', b: 'true' })
    assert.match(String(await only('transform', 'return { metadata: { a: {} } }')), /^Wrong result type: metadata/)
  })

  test('answers several messages for an array and refuses an empty one', async () => {
    assert.deepEqual(await only('transform', 'return [{ msg: 1 }, { msg: [2], msgType: "A" }]'), [
      { data: '1' },
      { data: '[2]', type: 'A' },
    ])
    assert.match(String(await only('transform', 'return []')), /^Wrong result type: empty array/)
    assert.match(String(await only('transform', 'return 5')), /^Wrong result type: number/)
  })

  test('keeps keys that carry a meaning in JavaScript', async () => {
    const data = '{"__proto__":{"a":1},"constructor":2,"toString":3}'
    assert.deepEqual(await only('transform', 'msg.valueOf = 4; return { msg: msg }', data), [
      { data: '{"__proto__":{"a":1},"constructor":2,"toString":3,"valueOf":4}' },
    ])
  })
})

describe('JavaScript log', () => {
  test('answers a text and nothing else', async () => {
    assert.equal(await only('log', 'return "t = " + msg.temperature'), 't = 20')
    assert.equal(await only('log', 'return msg'), 'Wrong result type: object, expected string')
  })
})

describe('errors of scripts', () => {
  test('a syntax error is refused with line and column', async () => {
    await assert.rejects(compile('filter', 'var a = 1;\nreturn a +;'), {
      code: 'script.SCRIPT_SYNTAX',
      fields: { line: 2, column: 11, reason: "Unexpected token ';'" },
    })
  })

  test('a body that ends its function is refused and not run', async () => {
    await assert.rejects(compile('filter', 'return true }); (function () { return true'), {
      code: 'script.SCRIPT_SYNTAX',
    })
  })

  test('an exception carries line and column of the body', async () => {
    assert.match(
      String(await only('filter', '\n  return msg.missing.value')),
      /^line 2, column 22: TypeError: Cannot read/,
    )
  })

  test('data that is no JSON fails its message only', async () => {
    const script = await compile('filter', 'return true')
    const [first, second, third] = await outcomesOf(script, [
      scriptMessage('1],[2'),
      scriptMessage(''),
      scriptMessage('"text"'),
    ])
    assert.match(String(first), /^message data is not JSON/)
    assert.match(String(second), /^message data is not JSON/)
    assert.equal(third, true)
  })

  test('arguments and results over their limits fail their message', async () => {
    const script = await compile('log', 'return new Array(msg.length).join("x")')
    const [large, small] = await outcomesOf(script, [
      scriptMessage(`{"a":"${'x'.repeat(100_000)}"}`),
      scriptMessage('{"length":3}'),
    ])
    assert.match(String(large), /^script arguments of 1000\d\d characters, at most 100000/)
    assert.equal(small, 'xx')
    const [result] = await outcomesOf(script, [scriptMessage('{"length":300001}')])
    assert.equal(result, 'script result of 300002 characters, at most 300000 are allowed')
  })

  test('a stopped message fails, what came before and after it in the batch does not', async () => {
    const script = await compile('filter', 'if (msg.loop) for (;;);\nreturn true')
    const batch = ['{}', '{}', '{"loop":1}', '{}'].map((data) => scriptMessage(data))
    assert.deepEqual(await outcomesOf(script, batch), [
      true,
      true,
      'script stopped after 500 ms (line 1, column 15)',
      true,
    ])
  })

  test('the message that breaks the memory limit fails, its neighbours do not', async () => {
    const script = await compile(
      'filter',
      'if (msg.bomb) { const a = []; for (;;) a.push(new Array(1000).fill(0.5)) }\nreturn true',
    )
    const batch = ['{}', '{"bomb":1}', '{}'].map((data) => scriptMessage(data))
    assert.deepEqual(await outcomesOf(script, batch), [
      true,
      `script exceeded its memory limit of ${16 * 1024 * 1024} bytes`,
      true,
    ])
  })

  test('after three stopped messages a script is put aside, until a minute has passed', async () => {
    const script = await compile('filter', 'if (msg.loop) for (;;);\nreturn true')
    const loops = Array.from({ length: 3 }, () => scriptMessage('{"loop":1}'))
    await outcomesOf(script, loops)
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [
      'script invocation is blocked due to maximum error count 3',
    ])
    clock.advance(59_999)
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [
      'script invocation is blocked due to maximum error count 3',
    ])
    clock.advance(1)
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [true])
  })
})

test('a tenant has more scripts than its heap holds at a time, and all of them run', async () => {
  const scripts = await Promise.all(
    Array.from({ length: 120 }, (_, index) => compile('log', `return "script ${index}"`)),
  )
  for (let round = 0; round < 2; round++) {
    for (const [index, script] of scripts.entries()) {
      assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [`script ${index}`])
    }
  }
})

describe('the queue before the pool', () => {
  test('refuses more messages than its bound, retryable, and goes on afterwards', async () => {
    const script = await compile('filter', 'return true')
    const outcomes = await outcomesOf(script, new Array(5001).fill(scriptMessage('{}')))
    assert.equal(outcomes.length, 5001)
    assert.equal(outcomes[5000], 'script queue holds 0 messages, at most 5000 are allowed')
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [true])
  })

  test('reports an empty batch at once', async () => {
    assert.deepEqual(await outcomesOf(await compile('filter', 'return true'), []), [])
  })

  test('a closed script refuses new messages', async () => {
    const script = await compile('filter', 'return true')
    script.close()
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [
      'script workers do not answer: script is closed',
    ])
  })

  test('closed workers let what is under way end and refuse what comes later', async () => {
    const own = createJavaScriptWorkers({ clock, threads: 1, memoryLimitMb: 16, timeoutMs: 500, queueBound: 5000 })
    const script = await own.compile({
      language: 'JS',
      kind: 'filter',
      body: 'return true',
      tenantId: 'tenant',
      ownerId: 'node',
    })
    const running = outcomesOf(script, new Array(2000).fill(scriptMessage('{}')))
    const closing = own.close()
    assert.deepEqual(await outcomesOf(script, [scriptMessage('{}')]), [
      'script workers do not answer: workers are closed',
    ])
    await closing
    assert.equal((await running).filter((outcome) => outcome === true).length, 2000)
    await own.close()
  })
})
