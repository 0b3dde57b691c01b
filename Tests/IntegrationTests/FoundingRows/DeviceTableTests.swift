import Foundation
import JSON
import Testing

@Suite("Founding rows: the tables of Django's push notifications", .timeLimit(.minutes(5)))
struct DeviceTableTests {
    private static let table = """
        id,name,active,date_created,device_id,registration_id,user_id,application_id,cloud_message_type
        1,"Ada's ""old"" phone, blue",t,2023-01-02 03:04:05.678+00,9f3a,a:APA91b-1,ada,,FCM
        2,,f,2023-01-02T03:04:05Z,,a:APA91b-2,ada,,FCM
        3,,t,,,a:APA91b-3,42,,FCM

        4,,maybe,,,a:APA91b-4,42,,FCM
        5,,t,,,,42,,FCM
        6,,t,,,a:APA91b-6,,,FCM
        7,,t,yesterday,,a:APA91b-7,42,,FCM
        8,,t,,,a b,42,,FCM
        9,,t
        """ + "\n" + String(repeating: ",", count: 70_000)

    @Test("B14: POST to both device routes keeps device_id and active, and answers both")
    func routes() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            func post(_ path: String, _ body: JSONValue) async throws -> JSONValue {
                let parameters = [
                    "--header", "Content-Type: application/json", "--data-binary", body.serializedString(),
                ]
                return try await installation.http(path, token: token, parameters).json
            }
            let apple = try await post(
                "/api/push/apns/",
                ["registration_id": "a1a1", "device_id": "6E5C-11", "active": false]
            )
            #expect(apple["device_id"] == "6E5C-11" && apple["active"] == false, "\(apple)")
            let android = try await post("/api/push/gcm/", ["registration_id": "x:y", "device_id": 4711])
            #expect(android["device_id"] == "4711" && android["active"] == true, "\(android)")
            // Registering again without it keeps what is known.
            let again = try await post("/api/push/apns/", ["registration_id": "A1A1", "active": true])
            #expect(
                again["device_id"] == "6E5C-11" && again["active"] == true && again["id"] == apple["id"],
                "\(again)"
            )
            _ = try await post("/api/push/apns/", ["registration_id": "a1a1", "active": false])
            let devices = try await installation.curl(
                "{ devices { hardwareId active disabledReason } }",
                token: token
            )
            let rows = Set(devices["data"]?["devices"]?.arrayValue ?? [])
            #expect(
                rows == [
                    ["hardwareId": "6E5C-11", "active": false, "disabledReason": "DEVICE_INACTIVE"],
                    ["hardwareId": "4711", "active": true, "disabledReason": nil],
                ],
                "\(devices)"
            )
        }
    }

    @Test("B14: import-devices takes a table in, tells each wrong row with its line, and changes nothing when repeated")
    func importing() async throws {
        let folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/gcmdevice.csv"
        try Self.table.write(toFile: file, atomically: true, encoding: .utf8)
        func tocsin(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
            try await TestBinary.run(arguments + ["--data-dir", folder + "/data"], folder: folder)
        }
        #expect(try await tocsin(["user", "add", "ada"]).status == 0)
        let dry = try await tocsin(["import-devices", file, "--dry-run"])
        #expect(dry.status == 1 && dry.output == "10 rows: 3 to be added, 0 here already, 7 refused\n", "\(dry)")
        #expect(try await tocsin(["device", "list"]).output.isEmpty)

        let first = try await tocsin(["import-devices", file, "--json"])
        #expect(
            try JSONParser.parse(first.output) == ["rows": 10, "added": 3, "known": 0, "refused": 7, "dryRun": false]
        )
        for (line, word) in [
            (6, "active"), (7, "registration_id"), (8, "user_id"), (9, "date"), (10, "token"), (11, "fields"),
            (12, "longer than"),
        ] {
            #expect(first.errors.contains(where: "gcmdevice.csv:\(line): ", word), "\(line): \(first.errors)")
        }
        let second = try await tocsin(["import-devices", file])
        #expect(second.output == "10 rows: 0 added, 3 here already, 7 refused\n", "\(second)")

        let list = try await tocsin(["device", "list", "--user", "ada", "--json"])
        let devices = try list.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
        let phone = devices.first { $0["hardwareId"] == "9f3a" }
        #expect(phone?["name"] == "Ada's \"old\" phone, blue" && phone?["platform"] == "android", "\(devices)")
        #expect(phone?["registeredAt"]?.stringValue?.hasPrefix("2023-01-02T03:04:05.678") == true, "\(devices)")
        #expect(devices.count { $0["active"] == false } == 1)
        #expect(try await tocsin(["device", "list", "--user", "42"]).output.contains("active"))
    }
}

extension String {
    /// Whether a line has both texts.
    fileprivate func contains(where first: String, _ second: String) -> Bool {
        split(separator: "\n").contains { $0.contains(first) && $0.contains(second) }
    }
}
