//! The adapter: names resolved, one request, one answer read.

use crate::advice::Asking;
use crate::choice::Choice;
use crate::error::refused;
use crate::kind::Kind;
use crate::request::{Resolved, refusal};
use crate::session::{Clients, GcpSettings, Session};
use crate::{
    doctor, image, labels, launch, machines, offerings, prices, relabel, reservation, terminate,
    trace,
};
use async_trait::async_trait;
use fleet_model::{Cloud, Machine, MachineId, Market, Region, Scope};
use fleet_provider::{
    Accounts, Answers, Class, Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error,
    Examination, ExamineRequest, Handover, Listed, Listing, Offered, OfferingsRequest,
    PriceListRequest, Provider, RelabelRequest, TraceRequest, Traced,
};
use std::sync::Arc;

/// Compute Engine, in every region that it is asked about.
pub struct Gcp {
    session: Session,
    clock: Arc<dyn Clock>,
    answers: Arc<Answers>,
}

impl Gcp {
    /// An adapter. Credentials are looked for at the first call.
    pub fn new(settings: GcpSettings, clock: Arc<dyn Clock>) -> Self {
        Gcp { session: Session::new(settings), clock, answers: Arc::default() }
    }

    /// How Google is asked.
    pub(crate) async fn clients(&self) -> Result<&Clients, Error> {
        self.session.clients().await
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The same, with advice remembered as others remember theirs.
    pub fn remembering(mut self, answers: Arc<Answers>) -> Self {
        self.answers = answers;
        self
    }

    /// The same for every project that a spec names.
    pub fn of_projects(
        settings: GcpSettings,
        clock: Arc<dyn Clock>,
        answers: Arc<Answers>,
    ) -> Accounts {
        let one = move |settings| Gcp::new(settings, clock.clone()).remembering(answers.clone());
        let home = Arc::new(one(settings.clone()));
        Accounts::new(home, move |project| Arc::new(one(settings.for_project(project))))
    }
}

/// What Google would refuse, told before anything is sent.
fn check(request: &CreateRequest<'_>, flex_start: bool) -> Result<(), Error> {
    let create = request.create;
    let wrong = |code, words: String| Err(refused(Class::Invalid, code, words));
    if create.pool.place.cloud != Cloud::Gcp {
        return wrong("WrongCloud", format!("{} is not of gcp", create.pool));
    }
    if let Some(why) = refusal(&create.pool, request.template, flex_start) {
        return wrong("CannotLaunch", why);
    }
    let count = labels::of(request).len();
    if count > labels::MOST {
        let words = format!("{count} labels are more than the {} of a machine", labels::MOST);
        return wrong("TooManyLabels", words);
    }
    Ok(())
}

#[async_trait]
impl Provider for Gcp {
    fn cloud(&self) -> Cloud {
        Cloud::Gcp
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        let asking = Asking { answers: &self.answers, now: self.clock.now() };
        offerings::offered(&self.session, request, asking).await
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        machines::all(self.session.clients().await?, &scope.region).await
    }

    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        let clients = match self.session.clients().await {
            Ok(clients) => clients,
            Err(error) => return scopes.iter().map(|_| Err(error.clone())).collect(),
        };
        let regions: Vec<&Region> = scopes.iter().map(|scope| &scope.region).collect();
        machines::listed(clients, &regions).await
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        let account = self.session.account();
        let known = trace::Known {
            now: self.clock.now(),
            account: account.as_deref(),
            flex_start_hours: self.session.settings.flex_start_hours,
        };
        Ok(trace::trace(self.session.clients().await?, request, known).await)
    }

    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        launch::made(self.session.clients().await?, request).await
    }

    async fn identity(&self, _: &Scope) -> Result<Option<String>, Error> {
        Ok(Some(self.session.clients().await?.project.clone()))
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        if request.create.slots.is_empty() {
            return Ok(Created { machines: Vec::new(), shortfall: None, refusals: Vec::new() });
        }
        check(request, self.session.settings.flex_start_hours.is_some())?;
        let pool = &request.create.pool;
        let Some(kind) = Kind::read(pool.instance_type.as_str()) else {
            let words = format!("{} is of no series that we know", pool.instance_type);
            return Err(refused(Class::Invalid, "CannotLaunch", words));
        };
        let clients = self.session.clients().await?;
        // What the plan says, if it says anything: the same token is then the same request.
        let image = match &request.create.image {
            Some(pinned) => pinned.clone(),
            None => image::find(&self.session, &image::text(request.template, kind)).await?,
        };
        let reservation = match pool.market {
            Market::Reserved => Some(reservation::find(clients, &pool.place, kind).await?),
            Market::OnDemand | Market::Spot => None,
        };
        let resolved = Resolved {
            project: &clients.project,
            kind,
            choice: Choice::of(request.create, kind),
            image,
            reservation,
            flex_start_hours: self.session.settings.flex_start_hours,
        };
        launch::launch(clients, request, &resolved, &*self.clock).await
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        if request.victims.is_empty() {
            return Ok(Destroyed::default());
        }
        terminate::end(self.session.clients().await?, request, &*self.clock).await
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        relabel::relabel(self.session.clients().await?, request, &*self.clock).await
    }

    fn handover(&self) -> Result<&dyn Handover, Error> {
        Ok(self)
    }

    async fn examine(&self, request: &ExamineRequest<'_>) -> Examination {
        doctor::examine(&self.session, request).await
    }

    async fn price_list(&self, request: &PriceListRequest<'_>) -> Result<Vec<Listed>, Error> {
        prices::list(self.session.clients().await?, request).await
    }
}
