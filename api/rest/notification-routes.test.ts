import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject, parseJson, type JsonObject } from '../../model/json.ts'
import { openRestWorld } from '../../test/security/rest-world.ts'

test('rules, templates by type and targets that fit are listed; a trigger of the system is not the tenant’s', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const ask = async (method: string, path: string, body?: JsonObject): Promise<readonly [number, JsonObject]> => {
    const response = await fetch(`${world.url}/api/notification/${path}`, {
      method,
      headers: { 'x-authorization': `Bearer ${world.tenant}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = parseJson((await response.text()) || 'null')
    return [response.status, isJsonObject(answer) ? answer : {}]
  }
  const names = ([status, page]: readonly [number, JsonObject]) => {
    assert.equal(status, 200)
    const data = Array.isArray(page['data']) ? page['data'] : []
    return data.map((item) => (isJsonObject(item) ? item['name'] : undefined))
  }
  const web = { WEB: { method: 'WEB', enabled: true, subject: 's', body: 'b' } }
  const template = { name: 'of alarms', notificationType: 'ALARM', configuration: { deliveryMethodsTemplates: web } }
  assert.equal((await ask('POST', 'template', template))[0], 200)
  assert.deepEqual(names(await ask('GET', 'templates?pageSize=9&page=0&notificationTypes=ALARM')), ['of alarms'])
  assert.deepEqual(names(await ask('GET', 'templates?pageSize=9&page=0&notificationTypes=RULE_NODE')), [])

  const filter = (type: string) => ({ type: 'PLATFORM_USERS', usersFilter: { type } })
  assert.equal((await ask('POST', 'target', { name: 'owners', configuration: filter('AFFECTED_USER') }))[0], 200)
  const lookUp = (type: string) => ask('GET', `targets/notificationType/${type}?pageSize=9&page=0`)
  assert.deepEqual(names(await lookUp('GENERAL')), ['secret target'])
  assert.deepEqual(names(await lookUp('ALARM')).toSorted(), ['owners', 'secret target'])
  assert.equal((await lookUp('NONE'))[0], 400)

  const [, rules] = await ask('GET', 'rules?pageSize=9&page=0')
  const [rule] = Array.isArray(rules['data']) ? rules['data'] : []
  assert.ok(isJsonObject(rule))
  assert.deepEqual(
    [rule['name'], rule['templateName'], rule['deliveryMethods']],
    ['secret rule', 'secret template', ['WEB']],
  )
  const { id, templateId, recipientsConfig } = rule
  const other = {
    id,
    name: 'r',
    templateId,
    recipientsConfig,
    triggerType: 'ALARM_COMMENT',
    triggerConfig: {},
  } as JsonObject
  assert.deepEqual(
    [
      (await ask('POST', 'rule', other))[1]['message'],
      (await ask('GET', 'slack/conversations?type=DIRECT'))[1]['message'],
    ],
    ['Trigger type of a notification rule cannot be changed', 'Slack is not configured'],
  )
  const recipients = { name: 'x', configuration: filter('TENANT_ADMINISTRATORS') }
  const [, users] = await ask('POST', 'target/recipients?pageSize=1&page=0', recipients)
  assert.equal(users['totalElements'], 1)

  const [, requests] = await ask('GET', 'requests?pageSize=1&page=0')
  const [request] = Array.isArray(requests['data']) ? requests['data'] : []
  assert.ok(isJsonObject(request) && request['id'] !== undefined)
  assert.equal((await ask('POST', 'request', request))[0], 400)
  assert.equal((await ask('POST', 'request/preview', request))[0], 200)
})
