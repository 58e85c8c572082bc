/** The HTTP device API as one of the device protocols. */
import { defineTransport } from '../define-transport.ts'
import { registerHttpDeviceApi } from './device-api.ts'
import { HTTP_DEVICE_SETTINGS } from './settings.ts'

export const httpDeviceApi = defineTransport({
  name: 'http_device_api',
  label: 'HTTP device API',
  settings: HTTP_DEVICE_SETTINGS,
  figures: {
    received: 'received_uploads_total',
    acknowledged: 'acknowledged_uploads_total',
    refused: 'refused_uploads_total',
    undecodable: 'undecodable_requests_total',
    unauthenticated: 'unauthenticated_requests_total',
    waitingPolls: 'waiting_polls',
  },
  listeners: () => ['http'],
  open: ({ server, gateway, settings, payload, clock, log }) =>
    registerHttpDeviceApi({
      server,
      gateway,
      limits: {
        maxBodyBytes: settings.httpMaxPayloadBytes,
        maxPollTimeoutMs: settings.httpRequestTimeoutMs,
        maxWaitingPolls: settings.httpMaxLongPolls,
        maxWaitingPollsPerTenant: settings.httpMaxLongPollsPerTenant,
      },
      payload,
      clock,
      log,
    }),
})
