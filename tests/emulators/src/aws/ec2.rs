//! The EC2 query protocol, as far as the proxy must read it.

use fleet_model::{Cloud, Timestamp};
use fleet_provider::evidence;
use fleet_testkit::{Answer, Request};
use std::collections::{BTreeMap, BTreeSet};

/// A call: its form, and the region it was signed for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    pub(crate) region: String,
    pub(crate) form: BTreeMap<String, String>,
}

impl Call {
    pub(crate) fn read(request: &Request) -> Self {
        let signed = request.header("authorization").unwrap_or_default();
        let region = signed
            .split_once("Credential=")
            .and_then(|(_, scope)| scope.split('/').nth(2))
            .unwrap_or_default()
            .to_owned();
        let form = url::form_urlencoded::parse(&request.body).into_owned().collect();
        let mut call = Call { region, form };
        // Services that speak JSON name the action in a header.
        let target = request.header("x-amz-target").and_then(|target| target.rsplit_once('.'));
        if let Some((_, action)) = target {
            call.form.insert("Action".to_owned(), action.to_owned());
        }
        call
    }

    pub(crate) fn get(&self, key: &str) -> &str {
        self.form.get(key).map_or("", String::as_str)
    }

    pub(crate) fn action(&self) -> &str {
        self.get("Action")
    }

    /// `InstanceId.1`, `InstanceId.2`, …
    pub(crate) fn instances(&self) -> impl Iterator<Item = &String> {
        self.form.iter().filter(|(key, _)| key.starts_with("InstanceId.")).map(|(_, id)| id)
    }
}

/// An error as EC2 writes it.
pub(crate) fn error(status: u16, code: &str, message: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>{code}</Code>\
         <Message>{message}</Message></Error></Errors><RequestID>0</RequestID></Response>"
    );
    Answer::new(status, "text/xml", body)
}

/// An error that the table of evidence knows, with the status that was seen with it. Codes that were
/// seen with none come with 400, as client errors do.
pub(crate) fn evident(kind: evidence::Call, code: &str, message: &str) -> Answer {
    let row = evidence::row(Cloud::Aws, kind, code, message);
    error(row.status.unwrap_or(400), row.code, message)
}

/// Spot requests whose machines are to be taken, each with what its status says. A request of which
/// the machine is taken for want of capacity is closed at once.
pub(crate) fn spot_requests(taken: &BTreeMap<String, String>) -> Answer {
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default();
    let item = |(id, code): (&String, &String)| {
        let state = if code.starts_with("marked-for-") { "active" } else { "closed" };
        format!(
            "<item><spotInstanceRequestId>sir-{id}</spotInstanceRequestId><state>{state}</state>\
             <status><code>{code}</code><updateTime>{now}</updateTime><message>{code}</message>\
             </status><instanceId>{id}</instanceId></item>"
        )
    };
    let items: String = taken.iter().map(item).collect();
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<DescribeSpotInstanceRequestsResponse \
         xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>0</requestId>\
         <spotInstanceRequestSet>{items}</spotInstanceRequestSet>\
         </DescribeSpotInstanceRequestsResponse>"
    );
    Answer::new(200, "text/xml", body)
}

/// A page without machines that says that another follows.
pub(crate) fn empty_page() -> Answer {
    let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<DescribeInstancesResponse \
                xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>0</requestId>\
                <reservationSet/><nextToken>lost</nextToken></DescribeInstancesResponse>";
    Answer::new(200, "text/xml", body)
}

/// Placement scores of the zones of a region.
pub(crate) fn scores(region: &str, scores: &BTreeMap<String, u32>) -> Answer {
    let item = |(zone, score): (&String, &u32)| {
        format!(
            "<item><region>{region}</region><availabilityZoneId>{zone}</availabilityZoneId>\
             <score>{score}</score></item>"
        )
    };
    let items: String = scores.iter().map(item).collect();
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<GetSpotPlacementScoresResponse \
         xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>0</requestId>\
         <spotPlacementScoreSet>{items}</spotPlacementScoreSet></GetSpotPlacementScoresResponse>"
    );
    Answer::new(200, "text/xml", body)
}

/// Limits of an account.
pub(crate) fn quotas(quotas: &BTreeMap<String, u64>) -> Answer {
    let item = |(code, value): (&String, &u64)| {
        format!("{{\"ServiceCode\":\"ec2\",\"QuotaCode\":\"{code}\",\"Value\":{value}.0}}")
    };
    let items: Vec<String> = quotas.iter().map(item).collect();
    let body = format!("{{\"Quotas\":[{}]}}", items.join(","));
    Answer::new(200, "application/x-amz-json-1.1", body)
}

/// Every instance id in an answer.
pub(crate) fn ids(answer: &Answer) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&answer.body);
    text.split("<instanceId>")
        .skip(1)
        .filter_map(|rest| rest.split_once("</instanceId>"))
        .map(|(id, _)| id.to_owned())
        .collect()
}

/// The answer without the reservations that hold one of these instances.
pub(crate) fn without(answer: Answer, hidden: &BTreeSet<String>) -> Answer {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let Some((head, rest)) = text.split_once("<reservationSet>") else { return answer };
    let Some((set, tail)) = rest.rsplit_once("</reservationSet>") else { return answer };
    let kept: String = items(set)
        .into_iter()
        .filter(|item| !hidden.iter().any(|id| item.contains(id.as_str())))
        .collect();
    let body = format!("{head}<reservationSet>{kept}</reservationSet>{tail}").into_bytes();
    Answer { body, ..answer }
}

/// The outermost `<item>` elements of a text.
fn items(text: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start, mut at) = (Vec::new(), 0u32, 0, 0);
    while let Some(next) = text[at..].find('<').map(|offset| at + offset) {
        let tag = &text[next..];
        if tag.starts_with("<item>") {
            if depth == 0 {
                start = next;
            }
            depth += 1;
        } else if tag.starts_with("</item>") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                found.push(&text[start..next + "</item>".len()]);
            }
        }
        at = next + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outermost_items() {
        let text = "<item><a><item>1</item></a></item> <item>2</item>";
        assert_eq!(items(text), ["<item><a><item>1</item></a></item>", "<item>2</item>"]);
    }

    #[test]
    fn forms_are_decoded() {
        let request = Request { body: b"Filter=a%3Ab+c%2F".to_vec(), ..Request::default() };
        assert_eq!(Call::read(&request).get("Filter"), "a:b c/");
    }

    /// The elements of a text, in order, without what is in them.
    fn shape(xml: &str) -> Vec<String> {
        let tags = xml.split('<').skip(1).filter_map(|rest| rest.split(['>', ' ']).next());
        tags.filter(|tag| !tag.starts_with('?')).map(str::to_owned).collect()
    }

    #[test]
    fn errors_have_the_shape_of_recorded_ones() {
        let ours = error(400, "InvalidInstanceID.Malformed", "words");
        let ours = shape(&String::from_utf8_lossy(&ours.body));
        let name = "recordings/aws/run-instances-and-status-2011.json";
        let Some(file) = fleet_testkit::shared_data(name) else { return };
        let file = std::fs::read_to_string(file).expect("a recording");
        let body =
            file.split("<Response>").nth(1).and_then(|rest| rest.split("</Response>").next());
        let theirs = shape(&format!("<Response>{}</Response>", body.expect("a recorded error")));
        assert_eq!(ours, theirs);
    }
}
