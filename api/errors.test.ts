import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineErrors } from '../model/errors.ts'
import type { HttpReply } from '../server/http-server.ts'
import { ApiErrors, errorAnswer, sendError } from './errors.ts'

const Errors = defineErrors('test', {
  CONFLICT: { kind: 'invalid', status: 409, text: 'Device was already changed by someone else' },
  OWN_CODE: { kind: 'denied', status: 401, restCode: 11, text: 'Token has expired' },
  BROKEN: { kind: 'terminal', status: 500, text: '/secret/place is damaged' },
  DATABASE: { kind: 'retryable', status: 500, restCode: 46, text: 'no such column: password' },
  BUSY: { kind: 'retryable', status: 503, text: '/secret/place is full' },
  ODD: { kind: 'invalid', status: 418, text: 'tea' },
})

function sent(error: unknown): { status: number; contentType: string | undefined; body: string } {
  let answer: { status: number; contentType: string | undefined; body: string } | undefined
  const reply: HttpReply = {
    open: true,
    onClosed: () => undefined,
    send: (status, contentType, body) => {
      answer = { status, contentType, body: String(body) }
    },
  }
  sendError(reply, error, 5)
  assert.ok(answer)
  return answer
}

describe('an error', () => {
  test('has its own code, else the usual one of its status', () => {
    assert.equal(errorAnswer(Errors.CONFLICT()).errorCode, 35)
    assert.equal(errorAnswer(Errors.OWN_CODE()).errorCode, 11)
    assert.equal(errorAnswer(Errors.ODD()).errorCode, 2)
    assert.deepEqual(errorAnswer(ApiErrors.NOT_FOUND_BY_ID({ type: 'Device', id: 'x' })), {
      status: 404,
      message: 'Device with id [x] is not found',
      errorCode: 32,
    })
  })

  test('that nobody declared is answered without a word of its text', () => {
    const { status, body } = sent(new Error('password=hunter2'))
    assert.equal(status, 500)
    assert.deepEqual(JSON.parse(body), { status: 500, message: 'Internal server error', errorCode: 2, timestamp: 5 })
  })

  test('of our own keeps its reason to itself, and says whether to try again', () => {
    const answers = [Errors.BROKEN(), Errors.DATABASE(), Errors.BUSY()].map(errorAnswer)
    assert.deepEqual(answers, [
      { status: 500, message: 'Internal server error', errorCode: 2 },
      { status: 500, message: 'Database error', errorCode: 46 },
      { status: 503, message: 'The server can not do this now: try again later', errorCode: 2 },
    ])
  })

  test('is written in ASCII, so that its declared character set holds', () => {
    const { body, contentType } = sent(ApiErrors.UNSUPPORTED({ what: 'Größe 😀 "x"' }))
    assert.match(body, /^[\x20-\x7e]*$/)
    assert.equal((JSON.parse(body) as { message: string }).message, 'Größe 😀 "x" is not supported')
    assert.equal(contentType, 'application/json;charset=ISO-8859-1')
  })
})
