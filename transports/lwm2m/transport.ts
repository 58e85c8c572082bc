/** LwM2M as one of the device protocols. */
import { defineTransport } from '../define-transport.ts'
import { LWM2M_SETTINGS } from './settings.ts'

export const lwm2m = defineTransport({
  name: 'lwm2m',
  label: 'LwM2M',
  settings: LWM2M_SETTINGS,
  figures: {
    clients: 'clients',
    observations: 'observations',
    received: 'received_uploads_total',
    acknowledged: 'acknowledged_uploads_total',
    refused: 'refused_uploads_total',
    undecodable: 'undecodable_messages_total',
    untyped: 'untyped_values_total',
    unauthenticated: 'unauthenticated_requests_total',
    malformed: 'malformed_datagrams_total',
    duplicates: 'duplicate_requests_total',
    notified: 'notifications_total',
    retransmitted: 'retransmissions_total',
    lost: 'lost_messages_total',
  },
  listeners: ({ lwm2mEnabled, lwm2mBindAddress, lwm2mBindPort }) =>
    lwm2mEnabled
      ? [
          {
            name: 'lwm2m',
            label: 'LwM2M',
            scheme: 'coap',
            over: 'udp',
            address: lwm2mBindAddress,
            addressName: LWM2M_SETTINGS.lwm2mBindAddress.name,
            port: lwm2mBindPort,
            portName: LWM2M_SETTINGS.lwm2mBindPort.name,
          },
        ]
      : [],
  open: async ({ gateway, settings, clock, random, log }) => {
    const { startLwm2mTransport } = await import('./server.ts')
    const transport = await startLwm2mTransport({
      gateway,
      bindAddress: settings.lwm2mBindAddress,
      port: settings.lwm2mBindPort,
      dtlsProxySocket: settings.lwm2mDtlsProxySocket,
      limits: { maxClients: settings.lwm2mMaxClients, maxClientsPerTenant: settings.lwm2mMaxClientsPerTenant },
      clock,
      random,
      log,
    })
    return {
      ports: { lwm2m: transport.port },
      figures: () => transport.figures(),
      close: () => transport.close(),
    }
  },
})
