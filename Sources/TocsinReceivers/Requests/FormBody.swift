/// Forms in the body: URL-encoded or `multipart/form-data`.
extension ReceiverRequest {
    /// Whether the body says that it is a form.
    package var isForm: Bool {
        ["application/x-www-form-urlencoded", "multipart/form-data"].contains(mediaType)
    }

    /// The fields of the form in the body, in order; files are left out.
    package var form: [Item] {
        switch mediaType {
        case "application/x-www-form-urlencoded": return QueryText.items(body)
        case "multipart/form-data":
            guard let boundary = MailHeaders.parameter("boundary", of: header("Content-Type") ?? "") else { return [] }
            return MultipartText.parts(of: body[...], boundary: boundary, maximum: Self.maximumItems).compactMap {
                part in
                let split = MailHeaders.split(part)
                let disposition = split.headers.first("Content-Disposition") ?? ""
                guard let name = MailHeaders.parameter("name", of: disposition),
                    MailHeaders.parameter("filename", of: disposition) == nil
                else { return nil }
                return Item(name, String(decoding: split.body, as: UTF8.self))
            }
        default: return []
        }
    }
}
