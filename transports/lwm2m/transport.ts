/** LwM2M as one of the device protocols. */
import { defineTransport } from '../define-transport.ts'
import { bootstrapPortOf, LWM2M_SETTINGS } from './settings.ts'

const { lwm2mBindAddress, lwm2mBindPort, lwm2mBootstrapBindAddress, lwm2mBootstrapBindPort } = LWM2M_SETTINGS
const UDP = { scheme: 'coap', over: 'udp' } as const

export const lwm2m = defineTransport({
  name: 'lwm2m',
  label: 'LwM2M',
  settings: LWM2M_SETTINGS,
  figures: {
    clients: 'clients',
    observations: 'observations',
    renewalsWaiting: 'waiting_renewals',
    bootstrapping: 'bootstrapping_clients',
    bootstrapped: 'bootstraps_total',
    bootstrapsFailed: 'failed_bootstraps_total',
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
  listeners: (settings) => {
    if (!settings.lwm2mEnabled) return []
    const registering = {
      ...{ ...UDP, name: 'lwm2m', label: 'LwM2M' },
      ...{ address: settings.lwm2mBindAddress, addressName: lwm2mBindAddress.name },
      ...{ port: settings.lwm2mBindPort, portName: lwm2mBindPort.name },
    }
    const bootstrapPort = bootstrapPortOf(settings)
    if (bootstrapPort === undefined) return [registering]
    const bootstrapping = {
      ...{ ...UDP, name: 'lwm2m_bootstrap', label: 'LwM2M bootstrap' },
      ...{ address: settings.lwm2mBootstrapBindAddress, addressName: lwm2mBootstrapBindAddress.name },
      ...{ port: bootstrapPort, portName: lwm2mBootstrapBindPort.name },
    }
    return [registering, bootstrapping]
  },
  open: async ({ gateway, settings, clock, random, log }) => {
    const { startLwm2mTransport } = await import('./server.ts')
    const bootstrapPort = bootstrapPortOf(settings)
    const transport = await startLwm2mTransport({
      gateway,
      bindAddress: settings.lwm2mBindAddress,
      port: settings.lwm2mBindPort,
      dtlsProxySocket: settings.lwm2mDtlsProxySocket,
      ...(bootstrapPort !== undefined
        ? {
            bootstrap: {
              bindAddress: settings.lwm2mBootstrapBindAddress,
              port: bootstrapPort,
              dtlsProxySocket: settings.lwm2mBootstrapDtlsProxySocket,
            },
          }
        : {}),
      limits: { maxClients: settings.lwm2mMaxClients, maxClientsPerTenant: settings.lwm2mMaxClientsPerTenant },
      clock,
      random,
      log,
    })
    return {
      ports: {
        lwm2m: transport.port,
        ...(transport.bootstrapPort === undefined ? {} : { lwm2m_bootstrap: transport.bootstrapPort }),
      },
      figures: () => transport.figures(),
      close: () => transport.close(),
    }
  },
})
