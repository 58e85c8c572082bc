import { ApiError, MillraceClient } from './client.ts'

const client = new MillraceClient({ url: process.env['MILLRACE_URL'] ?? 'http://localhost:8080' })
await client.login('tenant@millrace.local', 'tenant')

const { id: device } = await client.postDevice({ body: { name: 'Boiler 1', label: 'cellar' } })
await client.postPluginsTelemetryByEntityTypeByEntityIdByScope({
  entityType: 'DEVICE',
  entityId: device.id,
  scope: 'SHARED_SCOPE',
  body: { limit: 65 },
})
const { data } = await client.getTenantDevices({ pageSize: 10, page: 0, textSearch: 'Boiler' })
console.log(data.map(({ name, label }) => `${name} in the ${label}`))
try {
  await client.postDevice({ body: { name: 'Boiler 1' } })
} catch (error) {
  if (error instanceof ApiError) console.log(error.status, error.errorCode, error.message)
}
await client.deleteDeviceByDeviceId({ deviceId: device.id })
