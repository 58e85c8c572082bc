/** Integrations: where telemetry is collected from (docs/guides/integrations.md). Not of the reference's API. */
import type { JsonObject } from '../../model/json.ts'
import { integrations, type Integration } from '../../services/entities/integration.ts'
import type { FigureBook } from '../../services/integrations/figures.ts'
import { converterTrial, type Integrations } from '../../services/integrations/integrations.ts'
import { found } from './authorize.ts'
import { crud, pageOf, type EntityRoutesParts } from './declared/entity-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { TENANT } from './route.ts'

export interface IntegrationRoutesParts extends EntityRoutesParts {
  readonly integrations: Integrations
  readonly figures: Pick<FigureBook, 'sum'>
}

const WORDS = { one: 'integration', many: 'integrations', nameParameter: 'integrationName' } as const
const COUNT: JsonObject = { type: 'integer' }
const TEXT: JsonObject = { type: ['string', 'null'] }

const CHECK_ANSWER: JsonObject = {
  type: 'object',
  properties: {
    output: { type: 'array', items: { type: 'object' } },
    error: { type: 'string', description: 'Empty where the script made the output' },
  },
  required: ['output', 'error'],
}
const STATISTICS: JsonObject = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: ['STOPPED', 'CONNECTING', 'RUNNING', 'FAILED'] },
    received: COUNT,
    receivedBytes: COUNT,
    stored: COUNT,
    failed: { ...COUNT, description: 'For good: the converter failed, or the device may not be made' },
    delayed: { ...COUNT, description: 'Not stored at first: the source was asked to send it again' },
    lastError: TEXT,
    lastErrorTs: { type: ['integer', 'null'] },
    progress: { type: ['object', 'null'] },
  },
  required: [
    'state',
    'received',
    'receivedBytes',
    'stored',
    'failed',
    'delayed',
    'lastError',
    'lastErrorTs',
    'progress',
  ],
}

export function integrationRoutes(parts: IntegrationRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, integrations: service, figures } = parts
  const entities = declared.of(integrations)
  const one = async (id: string): Promise<Integration> => found(await service.find(id), integrations.label, id)
  const read = { integrationId: { entity: integrations, operation: 'READ' } } as const
  return [
    ...crud(parts, entities, WORDS, { read: TENANT, save: TENANT }, service),
    pageOf(parts, entities, WORDS, '/api/integrations'),
    make.route({
      method: 'POST',
      path: '/api/integration/check',
      about: 'Runs a converter once on a sample, without saving it: what it makes, or why it fails and where.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: converterTrial,
      example: () => ({
        converter: { script: 'return {deviceName: payload.station, telemetry: {temperature: payload.t}};' },
        payload: '{"station":"north","t":21.5}',
      }),
      answer: CHECK_ANSWER,
      handle: ({ principal, body }) => service.check(principal, body),
    }),
    make.route({
      method: 'GET',
      path: '/api/integration/{integrationId}/webhook',
      about: 'The path to which others send: whoever knows it may.',
      authorities: TENANT,
      targets: { integrationId: { entity: integrations, operation: 'WRITE' } },
      query: {},
      body: undefined,
      answer: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      handle: async ({ path }) => ({ path: service.webhookOf(await one(path.integrationId)) }),
    }),
    make.route({
      method: 'GET',
      path: '/api/integration/{integrationId}/statistics',
      about: 'What an integration received, stored and failed, in all processes together.',
      authorities: TENANT,
      targets: read,
      query: {},
      body: undefined,
      answer: STATISTICS,
      handle: async ({ path }) => figures.sum(await one(path.integrationId)),
    }),
  ]
}
