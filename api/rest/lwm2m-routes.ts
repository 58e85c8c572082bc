/** What devices of LwM2M profiles are told of the servers that they bootstrap from and report to. Source: `device-api.md` 13. */
import type { JsonObject } from '../../model/json.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { FLAG_WORDS, flagOf } from './query.ts'
import { TENANT_AND_CUSTOMER } from './route.ts'

/** What new profiles start from; the addresses are the reference's defaults, which a profile replaces by what devices reach. */
const COMMON = {
  host: '0.0.0.0',
  securityHost: '0.0.0.0',
  clientHoldOffTime: 1,
  bootstrapServerAccountTimeout: 0,
  lifetime: 300,
  defaultMinPeriod: 1,
  notifIfDisabled: true,
  binding: 'U',
  serverPublicKey: '',
  serverCertificate: '',
} as const
const SERVER = { ...COMMON, bootstrapServerIs: false, shortServerId: 123, port: 5685, securityPort: 5686 } as const
const BOOTSTRAP = { ...COMMON, bootstrapServerIs: true, shortServerId: 111, port: 5687, securityPort: 5688 } as const

const ANSWER: JsonObject = {
  type: 'object',
  properties: Object.fromEntries(Object.entries(SERVER).map(([name, value]) => [name, { type: typeof value }])),
  required: Object.keys(SERVER),
}

export function lwm2mRoutes({ make }: Pick<EntityRoutesParts, 'make'>): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/lwm2m/deviceProfile/bootstrap/{isBootstrapServer}',
      about: 'What a new LwM2M profile says of its server, or of its bootstrap server.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      words: { isBootstrapServer: FLAG_WORDS },
      query: {},
      body: undefined,
      answer: ANSWER,
      handle: ({ path: { isBootstrapServer } }) =>
        Promise.resolve(flagOf('isBootstrapServer', isBootstrapServer) ? { ...BOOTSTRAP } : { ...SERVER }),
    }),
  ]
}
