import ArgumentParser
import JSON
import TocsinCore
import TocsinServer

/// The command `tocsin device list | end`.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Look after the devices that get pushes.",
        subcommands: [List.self, End.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List devices: id, user, platform, state, name.")

        @Option(help: "Only this user's: a local user's name, or a user's id.") var user: String?
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                try await tool.pushes.eachDevice(of: user) { page in
                    for one in page { print(json ? line(one) : row(one)) }
                }
            }
        }

        private func row(_ one: PushAdministration.OwnedDevice) -> String {
            let device = one.device
            let state = device.isActive ? "active" : "ended \(device.disabledReason?.rawValue ?? "")"
            return [
                device.id.text, Terminal.harmless(one.userName ?? device.userID.text), device.platform.rawValue, state,
                Terminal.harmless(device.name ?? ""),
            ].joined(separator: "\t")
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a device, or all of a user's: their pushes stop, also those that wait.",
            discussion: """
                The device is forgotten. An app that is still signed in may register it again; to keep somebody out, \
                disable the user (`tocsin user disable`) or remove the membership (`tocsin member remove`).

                  tocsin device end 0199f0c2-6d7e-7000-8000-3f2a7c1d5e90
                  tocsin device end --user alice
                """
        )

        @Argument(help: "The device's id.") var id: String?
        @Option(help: "All devices of this user: a local user's name, or a user's id.") var user: String?
        @Flag(help: "One JSON object for each device that was ended.") var json = false
        @OptionGroup var store: StoreOptions

        func validate() throws {
            guard (id == nil) != (user == nil) else { throw ValidationError("Give a device's id, or --user.") }
        }

        func run() async throws {
            try await OfflineStore.run(store) { tool throws(ServiceError) in
                var ended: [PushAdministration.OwnedDevice] = []
                if let id { ended = [try await tool.pushes.endDevice(DeviceID(id))] }
                if let user { ended = try await tool.pushes.endDevices(of: user) }
                for one in ended {
                    let name = Terminal.harmless(one.userName ?? one.device.userID.text)
                    print(json ? line(one) : "Ended device \(one.device.id) of \(name).")
                }
                if ended.isEmpty, !json { print("There are no devices.") }
            }
        }
    }
}

/// A device on a line, without its token.
private func line(_ one: PushAdministration.OwnedDevice) -> String {
    let device = one.device
    return JSONValue.object([
        "id": .string(device.id.text), "userId": .string(device.userID.text),
        "user": one.userName.map { .string($0) } ?? .null, "platform": .string(device.platform.rawValue),
        "environment": device.environment.map { .string($0.rawValue) } ?? .null,
        "appId": device.appID.isEmpty ? .null : .string(device.appID),
        "name": device.name.map { .string($0) } ?? .null,
        "hardwareId": device.hardwareID.map { .string($0) } ?? .null, "active": .bool(device.isActive),
        "disabledReason": device.disabledReason.map { .string($0.rawValue) } ?? .null,
        "registeredAt": .string(device.registeredAt.iso8601), "lastSeenAt": .string(device.lastSeenAt.iso8601),
    ]).serializedString()
}
