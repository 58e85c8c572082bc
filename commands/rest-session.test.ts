import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { RestSession } from './rest-session.ts'

test('a call whose token is over is made once more with a new one; who is refused then too hears it', async (context) => {
  let logins = 0
  let valid = ''
  const server = createServer((request, response) => {
    const isLogin = request.url === '/api/auth/login'
    if (isLogin) valid = `token ${++logins}`
    else if (request.headers['x-authorization'] !== `Bearer ${valid}`) response.statusCode = 401
    request.resume()
    response.end(isLogin ? JSON.stringify({ token: valid }) : JSON.stringify({ message: 'Token has expired' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const session = await RestSession.open({ url, user: 'a', password: 'b' })
  valid = 'over'
  await session.request('GET', '/api/rows')
  assert.equal(session.token, 'token 2')
  valid = 'over'
  await session.bytes('/api/file')
  assert.equal(logins, 3)
  const refusing = createServer((request, response) => {
    request.resume()
    if (request.url !== '/api/auth/login') response.statusCode = 401
    response.end(JSON.stringify({ token: 'any', message: 'refused' }))
  })
  refusing.listen(0, '127.0.0.1')
  await once(refusing, 'listening')
  context.after(() => refusing.close())
  const other = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`
  const refused = await RestSession.open({ url: other, user: 'a', password: 'b' })
  await assert.rejects(refused.request('GET', '/api/rows'), { code: 'command.REFUSED' })
})

test('a server that is gone in the middle of an answer is told as one that does not answer', async (context) => {
  const server = createServer((request, response) => {
    request.resume()
    const whole = JSON.stringify({ token: 'any' })
    if (request.url === '/api/auth/login') return response.end(whole)
    response.statusCode = request.url === '/api/refused' ? 400 : 200
    response.setHeader('content-length', 100)
    response.write(whole, () => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const session = await RestSession.open({ url, user: 'a', password: 'b' })
  for (const path of ['/api/rows', '/api/refused'])
    await assert.rejects(session.request('GET', path), { code: 'command.UNREACHABLE' }, path)
})
