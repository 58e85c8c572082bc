import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import { openTestPlatform } from '../testkit.ts'

const Refusals = defineErrors('auth', {
  BAD_CREDENTIALS: { kind: 'denied', status: 401, text: 'Invalid username or password' },
  LOCKED: { kind: 'denied', status: 401, text: 'locked' },
  TOO_BUSY: { kind: 'retryable', status: 503, text: 'busy' },
})

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const SILENT = { address: '198.51.100.2', userAgent: '' }

test('log-ins, log-outs, refusals and lock-outs of users are told with their address, those of nobody are not', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { logins, audit } = platform.services
  const { email, userId } = platform.tenant
  const later = () => (platform.clock.time += 1000)
  await logins.loggedIn(email, { address: '198.51.100.1', userAgent: FIREFOX })
  later()
  await logins.refused(email, SILENT, Refusals.BAD_CREDENTIALS())
  later()
  await logins.refused(email, SILENT, Refusals.LOCKED())
  await logins.refused(email, SILENT, Refusals.LOCKED())
  await logins.refused(email, SILENT, Refusals.TOO_BUSY())
  await logins.refused('nobody@example.com', SILENT, Refusals.BAD_CREDENTIALS())
  await logins.loggedIn('nobody@example.com', SILENT)
  later()
  await logins.loggedOut({ ...platform.tenant, clientAddress: '198.51.100.3' }, '')
  const whole = { tenantId: platform.tenantId, startTime: 1, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] }
  const { data } = await audit.page({ ...whole, userId }, { page: 0, pageSize: 10 })
  assert.deepEqual(
    data.map(({ actionType, actionStatus, actionFailureDetails, clientAddress, entity }) => [
      actionType,
      actionStatus,
      actionFailureDetails,
      clientAddress,
      entity.id === userId,
    ]),
    [
      ['LOGIN', 'SUCCESS', '', '198.51.100.1', true],
      ['LOGIN', 'FAILURE', 'Invalid username or password', '198.51.100.2', true],
      ['LOCKOUT', 'FAILURE', 'locked', '198.51.100.2', true],
      ['LOGOUT', 'SUCCESS', '', '198.51.100.3', true],
    ],
  )
  const said = (place: number) => JSON.parse(data[place]?.actionData ?? '') as unknown
  const program = { browser: 'Firefox 128.0', os: 'Linux', device: 'Other' }
  assert.deepEqual(said(0), { clientAddress: '198.51.100.1', ...program })
  const unsaid = { browser: 'Unknown', os: 'Unknown', device: 'Unknown' }
  assert.deepEqual(
    [said(1), said(3)],
    [
      { clientAddress: '198.51.100.2', ...unsaid },
      { clientAddress: '198.51.100.3', ...unsaid },
    ],
  )
})
