// A client of LwM2M by Eclipse Leshan, driven by lines: `battery N` changes 3/0/9, `installed` says that the package is, `update` updates the registration, `stop` ends it.
// It says what it hears: BOOTSTRAPPED, REGISTERED, UPDATED, WRITE 14 text, EXECUTE 4, PACKAGE bytes sum, INSTALL, DEREGISTERED.
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Scanner;
import org.eclipse.leshan.client.LeshanClient;
import org.eclipse.leshan.client.LeshanClientBuilder;
import org.eclipse.leshan.client.californium.endpoint.CaliforniumClientEndpointsProvider;
import org.eclipse.leshan.client.californium.endpoint.coap.CoapClientProtocolProvider;
import org.eclipse.leshan.client.californium.endpoint.coaps.CoapsClientProtocolProvider;
import org.eclipse.leshan.client.object.Security;
import org.eclipse.leshan.client.object.Server;
import org.eclipse.leshan.client.observer.LwM2mClientObserverAdapter;
import org.eclipse.leshan.client.resource.BaseInstanceEnabler;
import org.eclipse.leshan.client.resource.ObjectsInitializer;
import org.eclipse.leshan.client.servers.LwM2mServer;
import org.eclipse.leshan.core.ResponseCode;
import org.eclipse.leshan.core.model.ObjectModel;
import org.eclipse.leshan.core.node.LwM2mResource;
import org.eclipse.leshan.core.request.BootstrapRequest;
import org.eclipse.leshan.core.request.DeregisterRequest;
import org.eclipse.leshan.core.request.RegisterRequest;
import org.eclipse.leshan.core.request.UpdateRequest;
import org.eclipse.leshan.core.request.argument.Arguments;
import org.eclipse.leshan.core.response.ExecuteResponse;
import org.eclipse.leshan.core.response.ReadResponse;
import org.eclipse.leshan.core.response.WriteResponse;

public class Client {
  public static class Device extends BaseInstanceEnabler {
    private volatile long battery = 90;
    private volatile String offset = "+00";

    @Override
    public ReadResponse read(LwM2mServer server, int id) {
      switch (id) {
        case 0: return ReadResponse.success(id, "Acme");
        case 9: return ReadResponse.success(id, battery);
        case 14: return ReadResponse.success(id, offset);
        case 16: return ReadResponse.success(id, "U");
        default: return super.read(server, id);
      }
    }

    @Override
    public WriteResponse write(LwM2mServer server, boolean replace, int id, LwM2mResource value) {
      if (id != 14) return super.write(server, replace, id, value);
      offset = (String) value.getValue();
      System.out.println("WRITE 14 " + offset);
      return WriteResponse.success();
    }

    @Override
    public ExecuteResponse execute(LwM2mServer server, int id, Arguments arguments) {
      System.out.println("EXECUTE " + id);
      return ExecuteResponse.success();
    }

    @Override
    public List<Integer> getAvailableResourceIds(ObjectModel model) {
      return Arrays.asList(0, 4, 9, 14, 16);
    }

    void change(long value) {
      battery = value;
      fireResourceChange(9);
    }
  }

  /** Object 5: takes packages that are written to it, and then is of version 2. */
  public static class Firmware extends BaseInstanceEnabler {
    private volatile long state = 0, result = 0;
    private volatile String version = "1";

    @Override
    public ReadResponse read(LwM2mServer server, int id) {
      switch (id) {
        case 3: return ReadResponse.success(id, state);
        case 5: return ReadResponse.success(id, result);
        case 6: return ReadResponse.success(id, "meter-app");
        case 7: return ReadResponse.success(id, version);
        case 9: return ReadResponse.success(id, 1L);
        default: return super.read(server, id);
      }
    }

    @Override
    public WriteResponse write(LwM2mServer server, boolean replace, int id, LwM2mResource value) {
      if (id != 0) return super.write(server, replace, id, value);
      byte[] image = (byte[]) value.getValue();
      try {
        byte[] sum = MessageDigest.getInstance("SHA-256").digest(image);
        System.out.println("PACKAGE " + image.length + " " + HexFormat.of().formatHex(sum));
      } catch (NoSuchAlgorithmException error) {
        return WriteResponse.internalServerError(error.getMessage());
      }
      state = 2;
      fireResourceChange(3);
      return WriteResponse.success();
    }

    @Override
    public ExecuteResponse execute(LwM2mServer server, int id, Arguments arguments) {
      if (id != 2 || state != 2) return ExecuteResponse.methodNotAllowed();
      System.out.println("INSTALL");
      version = "2";
      state = 3;
      fireResourceChange(3);
      return ExecuteResponse.success();
    }

    @Override
    public List<Integer> getAvailableResourceIds(ObjectModel model) {
      return Arrays.asList(0, 2, 3, 5, 6, 7, 9);
    }

    void installed() {
      result = 1;
      fireResourceChange(5);
    }
  }

  private static byte[] bytesOf(String file) throws IOException {
    return Files.readAllBytes(Path.of(file));
  }

  /** `proof`: nothing, `psk IDENTITY HEX`, or `x509 KEY CERTIFICATE SERVER`, `rpk KEY PUBLIC SERVER`, files in DER. */
  private static Security security(String address, boolean isBootstrap, String[] proof) throws IOException {
    switch (proof.length == 0 ? "" : proof[0]) {
      case "psk": {
        byte[] identity = proof[1].getBytes(StandardCharsets.UTF_8), key = HexFormat.of().parseHex(proof[2]);
        return isBootstrap ? Security.pskBootstrap(address, identity, key) : Security.psk(address, 123, identity, key);
      }
      case "x509": {
        byte[] key = bytesOf(proof[1]), certificate = bytesOf(proof[2]), server = bytesOf(proof[3]);
        return isBootstrap
          ? Security.x509Bootstrap(address, certificate, key, server)
          : Security.x509(address, 123, certificate, key, server);
      }
      case "rpk": {
        byte[] key = bytesOf(proof[1]), own = bytesOf(proof[2]), server = bytesOf(proof[3]);
        return isBootstrap
          ? Security.rpkBootstrap(address, own, key, server)
          : Security.rpk(address, 123, own, key, server);
      }
      default:
        return isBootstrap ? Security.noSecBootstrap(address) : Security.noSec(address, 123);
    }
  }

  /** Endpoint, and `coap://HOST:PORT` or `coaps://HOST:PORT` with what it proves itself with; `bootstrap` before that: it is a bootstrap server's. */
  public static void main(String[] parameters) throws IOException {
    Device device = new Device();
    Firmware firmware = new Firmware();
    ObjectsInitializer objects = new ObjectsInitializer();
    boolean isBootstrap = parameters.length > 2 && parameters[2].equals("bootstrap");
    String[] proof = Arrays.copyOfRange(parameters, isBootstrap ? 3 : 2, parameters.length);
    objects.setInstancesForObject(0, security(parameters[1], isBootstrap, proof));
    if (isBootstrap) objects.setClassForObject(1, Server.class);
    else objects.setInstancesForObject(1, new Server(123, 300));
    objects.setInstancesForObject(3, device);
    objects.setInstancesForObject(5, firmware);
    LeshanClientBuilder builder = new LeshanClientBuilder(parameters[0]);
    builder.setObjects(objects.create(0, 1, 3, 5));
    builder.setEndpointsProviders(
      new CaliforniumClientEndpointsProvider.Builder(new CoapClientProtocolProvider(), new CoapsClientProtocolProvider())
        .build());
    LeshanClient client = builder.build();
    client.addObserver(new LwM2mClientObserverAdapter() {
      @Override
      public void onBootstrapSuccess(LwM2mServer server, BootstrapRequest request) {
        System.out.println("BOOTSTRAPPED");
      }

      @Override
      public void onBootstrapFailure(
          LwM2mServer server, BootstrapRequest request, ResponseCode code, String text, Exception cause) {
        System.out.println("REFUSED " + code + " " + text);
      }

      @Override
      public void onRegistrationSuccess(LwM2mServer server, RegisterRequest request, String id) {
        System.out.println("REGISTERED");
      }

      @Override
      public void onRegistrationFailure(
          LwM2mServer server, RegisterRequest request, ResponseCode code, String text, Exception cause) {
        System.out.println("REFUSED " + code + " " + text);
      }

      @Override
      public void onRegistrationTimeout(LwM2mServer server, RegisterRequest request) {
        System.out.println("TIMED OUT");
      }

      @Override
      public void onUpdateSuccess(LwM2mServer server, UpdateRequest request) {
        System.out.println("UPDATED");
      }

      @Override
      public void onDeregistrationSuccess(LwM2mServer server, DeregisterRequest request) {
        System.out.println("DEREGISTERED");
      }
    });
    client.start();
    Scanner lines = new Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] words = lines.nextLine().split(" ");
      if (words[0].equals("battery")) device.change(Long.parseLong(words[1]));
      else if (words[0].equals("installed")) firmware.installed();
      else if (words[0].equals("update")) client.triggerRegistrationUpdate();
      else if (words[0].equals("stop")) break;
    }
    client.destroy(true);
    System.exit(0);
  }
}
