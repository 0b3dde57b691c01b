import TocsinCore
import TocsinPush

/// The columns of a device table as Django's push notifications keep it, by the file's first row.
struct DeviceTable {
    /// The names of the columns, in lower case, in the order of the file.
    private let columns: [String]
    private let platform: PushPlatform

    /// Columns that mean something here.
    private static let known: Set<String> = [
        "id", "registration_id", "user_id", "active", "device_id", "name", "application_id", "date_created",
        "cloud_message_type",
    ]
    private static let required = ["registration_id", "user_id"]

    /// Why a table cannot be read, as a sentence.
    struct Problem: Error { let sentence: String }

    /// Reads the first row; without a `platform` the columns or the file's name tell it.
    init(header: [String], path: String, platform: PushPlatform?) throws(Problem) {
        columns = header.map { $0.trimmed.lowercased() }
        for name in Self.required where !columns.contains(name) {
            throw Problem(
                sentence: "\(path) has no column \(name). Its first row must name the columns; it names "
                    + "\(columns.prefix(20).joined(separator: ", "))."
            )
        }
        let file = (path.split(separator: "/").last ?? "").lowercased()
        if let platform {
            self.platform = platform
        } else if columns.contains("cloud_message_type") || file.contains("gcm") || file.contains("fcm") {
            self.platform = .android
        } else if file.contains("apns") {
            self.platform = .ios
        } else {
            throw Problem(
                sentence: "\(path) does not say whose devices it has. Add --platform ios or --platform android."
            )
        }
    }

    /// Columns that are left out.
    var ignored: [String] { columns.filter { !Self.known.contains($0) } }

    /// The device of a row; throws the end of a sentence about it.
    func device(_ fields: [String]) throws(Problem) -> DeviceService.Imported {
        guard fields.count == columns.count else {
            throw Problem(sentence: "it has \(fields.count) fields, and the first row \(columns.count).")
        }
        var values: [String: String] = [:]
        for (name, field) in zip(columns, fields) where !field.trimmed.isEmpty { values[name] = field.trimmed }
        guard let token = values["registration_id"] else { throw Problem(sentence: "registration_id is empty.") }
        guard let user = values["user_id"] else { throw Problem(sentence: "user_id is empty: it is nobody's device.") }
        var registration = DeviceService.Registration(token: token, platform: platform)
        registration.appID = values["application_id"] ?? ""
        registration.name = values["name"]
        registration.hardwareID = values["device_id"]
        registration.isActive = try Self.truth(values["active"])
        let date = values["date_created"]
        let registeredAt = date.flatMap(Self.moment)
        guard date == nil || registeredAt != nil else {
            throw Problem(sentence: "date_created \"\(date?.prefix(40) ?? "")\" is no date and time.")
        }
        return DeviceService.Imported(user: user, registration: registration, registeredAt: registeredAt)
    }

    private static func truth(_ text: String?) throws(Problem) -> Bool {
        switch text?.lowercased() {
        case nil, "t", "true", "1", "yes": return true
        case "f", "false", "0", "no": return false
        case let other?: throw Problem(sentence: "active is \"\(other.prefix(40))\"; it must be true or false.")
        }
    }

    /// A date as databases write it: `2024-01-02 03:04:05.678+00`, without a zone in UTC.
    private static func moment(_ text: String) -> Timestamp? {
        var iso = text
        if let gap = iso.firstIndex(of: " ") { iso.replaceSubrange(gap...gap, with: "T") }
        guard let start = iso.firstIndex(of: "T") else { return nil }
        let time = iso[start...]
        if let sign = time.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            if time[sign...].count == 3 { iso += ":00" }
        } else if !iso.hasSuffix("Z") {
            iso += "Z"
        }
        return Timestamp(awsDateTime: iso)
    }
}
