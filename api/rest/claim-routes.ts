/** How devices change hands: customers' users claim them and give them back, tenants give them away. Source: `rest-api.md` 5.5. */
import { z } from 'zod'
import { devices } from '../../services/entities/device.ts'
import type { Services } from '../../services/services.ts'
import { optionalText } from './body.ts'
import { rawAnswer, type RouteMaker } from './declared/declare.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { recordShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, jsonTextAnswer, TENANT, TENANT_AND_CUSTOMER } from './route.ts'

export interface ClaimRoutesParts {
  readonly make: RouteMaker
}

export function claimRoutes(
  { make }: ClaimRoutesParts,
  { claims, deviceMove }: Pick<Services, 'claims' | 'deviceMove'>,
): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'POST',
      path: '/api/tenant/{tenantId}/device/{deviceId}',
      about: 'Gives a device to another tenant, with its credentials, attributes and series.',
      authorities: TENANT,
      targets: {
        tenantId: { untargeted: 'a tenant may give to any other, and reads nothing of it' },
        deviceId: { entity: devices, operation: 'ASSIGN_TO_TENANT' },
      },
      query: {},
      body: undefined,
      answer: recordShape(devices),
      handle: async ({ principal, path }) =>
        devices.jsonOf(await deviceMove.moveByUser(principal, path.deviceId, path.tenantId)),
    }),
    make.route({
      method: 'POST',
      path: '/api/customer/device/{deviceName}/claim',
      about:
        "Takes a device of the tenant for the user's customer: whoever knows the secret that the device offers may.",
      authorities: ['CUSTOMER_USER'],
      targets: {},
      query: {},
      bodyIs: 'optional',
      body: z.object({ secretKey: optionalText }),
      example: () => ({ secretKey: 'secret of the device' }),
      answer: {
        type: 'object',
        properties: { device: recordShape(devices), response: { type: 'string', enum: ['SUCCESS'] } },
        required: ['device', 'response'],
      },
      handle: async ({ principal, path, body }) => {
        const result = await claims.claimByUser(principal, path.deviceName, body.secretKey ?? '')
        if (result.response !== 'SUCCESS') return rawAnswer(jsonTextAnswer(JSON.stringify(result.response), 400))
        return { device: devices.jsonOf(result.device), response: result.response }
      },
    }),
    make.route({
      method: 'DELETE',
      path: '/api/customer/device/{deviceName}/claim',
      about: 'Gives a device back; one that no customer has stays so.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: {},
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await claims.reclaimByUser(principal, path.deviceName)
        return EMPTY_ANSWER
      },
    }),
  ]
}
