/** What code could do that broke out of its isolate: it runs here in the sandbox process itself, beside the entry. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ChildProcess } from 'node:child_process'
import type { SandboxNews } from './protocol.ts'
import { startSandbox } from './sandbox-launch.ts'

const LIMITS = { memoryLimitMb: 16, timeoutMs: 1000, resultLimit: 1000, isolates: 2, scripts: 2 }

/** Runs the text of a function of `path` in the process's own realm, and says what it answered or threw. */
const ESCAPED = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module'
  const require = createRequire('file:///')
  process.on('message', (request) => {
    if (request.escaped === undefined) return
    let told
    try {
      told = { did: String(Function('require', 'path', request.escaped)(require, request.path)) }
    } catch (error) {
      told = { refused: error.code ?? error.message }
    }
    process.send({ told })
  })
`)}`

interface Told {
  readonly told?: { readonly did?: string; readonly refused?: string }
}

describe('issue-8 G: a sandbox process', () => {
  let folder: string
  let sandbox: ChildProcess

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-data-'))
    writeFileSync(join(folder, 'entities.sqlite'), 'a secret')
    sandbox = startSandbox(LIMITS, ESCAPED)
    await answer((news: SandboxNews) => news === 'trying')
  })

  after(() => {
    sandbox.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  /** Hears all that comes: what came at once with another message is not passed over. */
  function answer<News>(isMeant: (news: News) => boolean): Promise<News> {
    return new Promise((resolve) => {
      const hear = (news: News): void => {
        if (!isMeant(news)) return
        sandbox.off('message', hear)
        resolve(news)
      }
      sandbox.on('message', hear)
    })
  }

  async function escaped(code: string, path = ''): Promise<unknown> {
    const heard = answer((news: Told) => news.told !== undefined)
    // The entry answers too: it takes it for a request that it can not run.
    sandbox.send({ type: 'compile', tenantId: 't', scriptId: 1, kind: 'log', body: 'return 1', escaped: code, path })
    const { told } = await heard
    return told?.did ?? told?.refused
  }

  const reads = [
    ['a file of the data folder', () => join(folder, 'entities.sqlite')],
    ['the password file', () => '/etc/passwd'],
    ['the secrets of the machine’s processes', () => '/proc/self/environ'],
    ['the configuration of the program', () => join(import.meta.dirname, '../../../config/settings.ts')],
    ['a module beside its own', () => join(import.meta.dirname, 'javascript-workers.ts')],
  ] as const
  for (const [what, path] of reads) {
    test(`does not read ${what}`, async () => {
      assert.equal(await escaped('return require("fs").readFileSync(path)', path()), 'ERR_ACCESS_DENIED')
      assert.equal(await escaped('return require("fs").openSync(path)', path()), 'ERR_ACCESS_DENIED')
    })
  }

  test('does not list a folder', async () => {
    assert.equal(await escaped('return require("fs").readdirSync(path)', folder), 'ERR_ACCESS_DENIED')
  })

  test('does not write, in the data folder or beside its modules', async () => {
    for (const path of [join(folder, 'new'), join(folder, 'entities.sqlite'), join(import.meta.dirname, 'new.ts')]) {
      assert.equal(await escaped('return require("fs").writeFileSync(path, "1")', path), 'ERR_ACCESS_DENIED')
    }
    assert.deepEqual(readdirSync(folder), ['entities.sqlite'])
  })

  test('starts no program', async () => {
    assert.equal(await escaped('return require("child_process").execSync("id")'), 'ERR_ACCESS_DENIED')
  })

  test('starts no thread, which could lay the bounds down', async () => {
    const thread = `const { Worker } = require('worker_threads')
      return new Worker('', { eval: true, execArgv: ['--no-permission'] })`
    assert.equal(await escaped(thread), 'ERR_ACCESS_DENIED')
  })

  test('knows nothing of the environment', async () => {
    assert.match(String(await escaped('return Object.keys(process.env).join()')), /^(TZ)?(NODE_CHANNEL_\w+,?)*$/)
  })

  test('reads its own module, and runs scripts', async () => {
    assert.match(
      String(await escaped('return require("fs").readFileSync(path)', join(import.meta.dirname, 'guest-realm.ts'))),
      /freezeRealm/,
    )
    const ran = answer((news: SandboxNews) => news !== 'trying' && 'answer' in news && news.answer.type === 'ran')
    sandbox.send({
      type: 'run',
      scriptId: 2,
      tenantId: 't',
      kind: 'log',
      body: 'return "x" + msg.a',
      count: 1,
      batch: '[7,2,1]\n{"a":1}{}t',
    })
    const news = await ran
    assert.deepEqual(news === 'trying' ? news : news.answer, { type: 'ran', outcomes: '["x1"]', count: -1 })
  })
})
