import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { PASSWORD_PAGES, PASSWORD_SCRIPT, passwordPageAnswer, passwordScriptAnswer } from './password-pages.ts'

const EMPTY = { status: 200 }

test('the pages run one script, of this server, and no form goes elsewhere', () => {
  for (const path of Object.keys(PASSWORD_PAGES) as (keyof typeof PASSWORD_PAGES)[]) {
    const { body, headers = {} } = passwordPageAnswer(path)
    const scripts = [...body.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)
    assert.ok(scripts.every((tag) => tag === `<script src="${PASSWORD_SCRIPT}">`))
    assert.match(headers['Content-Security-Policy'] ?? '', /default-src 'none'.*script-src 'self'.*form-action 'none'/)
    assert.equal(headers['Referrer-Policy'], 'no-referrer')
  }
})

/** Plays the page: what is typed, and what the server says to it. */
async function play(path: string, typed: { password: string; again: string }, answer: Response) {
  const told = { textContent: '' }
  const sent: { path: string; body: unknown }[] = []
  let submit: (event: object) => Promise<void> = async () => undefined
  const form = {
    hidden: false,
    elements: { password: { value: typed.password }, again: { value: typed.again } },
    querySelector: () => ({ disabled: false }),
    addEventListener: (_: string, listener: typeof submit) => (submit = listener),
  }
  const [pathname = '', search = ''] = path.split('?')
  const page = { querySelector: (name: string) => (name === 'form' ? form : told) }
  const call = async (to: string, { body }: { body: string }): Promise<Response> => {
    sent.push({ path: to, body: JSON.parse(body) as unknown })
    return answer
  }
  const location = { pathname, search: `?${search}` }
  runInNewContext(passwordScriptAnswer().body, { document: page, location, fetch: call, URLSearchParams })
  await submit({ preventDefault: () => undefined })
  return { told: told.textContent, sent, isDone: form.hidden }
}

test('what is typed goes to the call of the page, with the token of its address', async () => {
  const good = { password: 'secret 1', again: 'secret 1' }
  const first = await play('/login/createPassword?activateToken=a%2Bb', good, Response.json({}, EMPTY))
  assert.deepEqual(first.sent, [{ path: '/api/noauth/activate', body: { activateToken: 'a+b', password: 'secret 1' } }])
  assert.ok(first.isDone)
  const reset = await play('/login/resetPassword?resetToken=t', good, new Response('', EMPTY))
  assert.deepEqual(reset.sent, [{ path: '/api/noauth/resetPassword', body: { resetToken: 't', password: 'secret 1' } }])
  assert.ok(reset.isDone)
})

test('two that differ are not sent, and what the server refuses is told', async () => {
  const differing = await play('/login/createPassword?activateToken=t', { password: 'a', again: 'b' }, new Response())
  assert.deepEqual([differing.sent, differing.isDone], [[], false])
  assert.match(differing.told, /not the same/)
  const refused = Response.json({ message: 'Password must be 6 or more characters in length.' }, { status: 400 })
  const short = await play('/login/createPassword?activateToken=t', { password: 'a', again: 'a' }, refused)
  assert.deepEqual([short.told, short.isDone], ['Password must be 6 or more characters in length.', false])
})
