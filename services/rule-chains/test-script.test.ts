import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createScriptHost } from '../../engine/script/host.ts'
import { createJavaScriptWorkers, type JavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import type { ScriptLanguage } from '../../engine/script/script.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { testScripts } from '../testkit.ts'
import { scriptTest, testScript, type ScriptTest } from './test-script.ts'

describe('a script tried out', () => {
  let javaScript: JavaScriptWorkers
  before(() => {
    javaScript = createJavaScriptWorkers({
      clock: systemClock,
      threads: 1,
      memoryLimitMb: 16,
      timeoutMs: 500,
      queueBound: 10,
    })
  })
  after(() => javaScript.close())

  const TEST: ScriptTest = {
    script: 'return msg.t > 20;',
    scriptType: 'filter',
    msg: '{"t":25}',
    metadata: { a: '1' },
    msgType: 'POST_TELEMETRY_REQUEST',
  }
  const context = { clock: systemClock, random: systemRandom }
  const run = (language: ScriptLanguage, change: Partial<ScriptTest>) => {
    const compile = (source: Parameters<JavaScriptWorkers['compile']>[0]) => javaScript.compile(source)
    const scripts = createScriptHost({ ...context, javaScript: compile as JavaScriptWorkers['compile'] })
    return testScript({ ...TEST, ...change }, language, 'tenant', { ...context, scripts })
  }

  for (const language of ['TBEL', 'JS'] as const) {
    test(`answers in ${language} what each kind of script makes`, async () => {
      const outputs: readonly (readonly [Partial<ScriptTest>, string])[] = [
        [{}, 'true'],
        [{ scriptType: 'switch', script: "return ['a', msgType];" }, '["a","POST_TELEMETRY_REQUEST"]'],
        [
          { scriptType: 'update', script: 'metadata.b = 2; return {msg: msg, metadata: metadata, msgType: "X"};' },
          '{"msg":{"t":25},"metadata":{"a":"1","b":"2"},"msgType":"X"}',
        ],
        [
          { scriptType: 'generate', argNames: ['was'], script: 'return {msg: {next: was.t}};' },
          '{"msg":{"next":25},"metadata":{"a":"1"},"msgType":"POST_TELEMETRY_REQUEST"}',
        ],
        [{ scriptType: 'json', script: 'return {t: [msg.t]};' }, '{"t":[25]}'],
        [{ scriptType: 'json', script: 'return "a text";' }, '"a text"'],
        [{ scriptType: 'string', script: 'return "t: " + msg.t;' }, 't: 25'],
      ]
      for (const [change, output] of outputs) assert.deepEqual(await run(language, change), { output, error: '' })
    })

    test(`answers in ${language} why a script fails`, async () => {
      const failures: readonly (readonly [Partial<ScriptTest>, RegExp])[] = [
        [{ script: 'return msg.a.b.c > 1;' }, /./],
        [{ script: 'return ((;' }, /line 1/],
        [{ script: '' }, /blank/],
        [{ script: 'return 5;' }, /Wrong result type/],
        [{ msg: 'no JSON' }, /not JSON/],
        [{ script: 'while (true) {}' }, /stopped/],
        [{ scriptType: 'odd' }, /^Unsupported script type: odd$/],
      ]
      for (const [change, why] of failures) {
        const { output, error } = await run(language, change)
        assert.equal(output, '')
        assert.match(error, why)
      }
    })
  }

  test('a sandbox that can not be had is no fault of the script', async () => {
    await assert.rejects(testScript(TEST, 'JS', 'tenant', { ...context, scripts: testScripts }), { status: 503 })
  })

  test('names that are no variables are refused', () => {
    assert.ok(scriptTest.safeParse({ ...TEST, argNames: ['msg', 'metadata', 'msgType'] }).success)
    for (const argNames of [['a b'], ['a; b'], ['a', 'b', 'c', 'd']])
      assert.ok(!scriptTest.safeParse({ ...TEST, argNames }).success)
  })
})
