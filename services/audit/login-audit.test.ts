import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import { openTestPlatform } from '../testkit.ts'

const Refusals = defineErrors('auth', {
  BAD_CREDENTIALS: { kind: 'denied', status: 401, text: 'Invalid username or password' },
  LOCKED: { kind: 'denied', status: 401, text: 'locked' },
  TOO_BUSY: { kind: 'retryable', status: 503, text: 'busy' },
})

test('log-ins, log-outs, refusals and lock-outs of users are told with their address, those of nobody are not', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { logins, audit } = platform.services
  const { email, userId } = platform.tenant
  const later = () => (platform.clock.time += 1000)
  await logins.loggedIn(email, '198.51.100.1')
  later()
  await logins.refused(email, '198.51.100.2', Refusals.BAD_CREDENTIALS())
  later()
  await logins.refused(email, '198.51.100.2', Refusals.LOCKED())
  await logins.refused(email, '198.51.100.2', Refusals.LOCKED())
  await logins.refused(email, '198.51.100.2', Refusals.TOO_BUSY())
  await logins.refused('nobody@example.com', '198.51.100.2', Refusals.BAD_CREDENTIALS())
  await logins.loggedIn('nobody@example.com', '198.51.100.2')
  later()
  await logins.loggedOut({ ...platform.tenant, clientAddress: '198.51.100.3' })
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
  assert.deepEqual(JSON.parse(data[0]?.actionData ?? ''), { clientAddress: '198.51.100.1' })
})
