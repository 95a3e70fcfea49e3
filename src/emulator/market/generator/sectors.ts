/** A text in both languages. */
export interface Bilingual {
  en: string;
  zh: string;
}

/** A sector of the market, with the texts from which its products and keywords are made. */
export interface Sector {
  slug: string;
  name: Bilingual;
  /** The kind of its products, such as "video generator". */
  noun: Bilingual;
  /** The second parts of product names. Each belongs to one sector only. */
  endings: readonly string[];
  /** Common searches for its products. */
  terms: readonly Bilingual[];
  features: readonly Bilingual[];
  /** The users of its products. */
  audiences: readonly Bilingual[];
}

/** Splits a text in the form `en|zh`. */
export function pair(text: string): Bilingual {
  const [en = "", zh = ""] = text.trim().split("|");
  return { en, zh };
}

/** Splits several pairs, which are separated by semicolons. */
export const pairs = (text: string): Bilingual[] => text.split(";").map(pair);

function sector(
  slug: string,
  [name, noun]: readonly [name: string, noun: string],
  endings: string,
  terms: string,
  features: string,
  audiences: string,
): Sector {
  return {
    slug,
    name: pair(name),
    noun: pair(noun),
    endings: endings.split(" "),
    terms: pairs(terms),
    features: pairs(features),
    audiences: pairs(audiences),
  };
}

/** Ids follow this order, so only append sectors. */
export const SECTORS: readonly Sector[] = [
  sector(
    "video-generation",
    ["Video Generation|视频生成", "video generator|视频生成工具"],
    "reel frame motion clip scene cut film shot take dolly",
    "ai video generator|ai视频生成;text to video|文字转视频;image to video|图片转视频;video avatar|数字人视频;ai video editor|ai视频剪辑;talking photo|照片说话",
    "camera moves by text|用文字控制运镜;lip sync|口型同步;scene extension|场景延长;4K export|4K导出;storyboards|分镜脚本;character consistency|角色一致性",
    "creators|内容创作者;ad agencies|广告公司;social media teams|社媒团队;filmmakers|影视制作人",
  ),
  sector(
    "voice-and-speech",
    ["Voice & Speech|语音合成", "voice studio|语音合成工具"],
    "voice tone speak larynx echo cast vox whisper hum sonnet",
    "text to speech|文字转语音;voice cloning|声音克隆;ai voice generator|ai配音;speech to text|语音转文字;voice changer|变声器;ai dubbing|ai译制配音",
    "voice cloning from one minute|一分钟声音克隆;emotion control|情感控制;dubbing in 40 languages|40种语言配音;pronunciation dictionary|发音词典;streaming speech|流式语音;noise removal|降噪",
    "podcasters|播客作者;audiobook publishers|有声书出版方;game studios|游戏工作室;video creators|视频创作者",
  ),
  sector(
    "coding-assistants",
    ["Coding Assistants|编程助手", "coding assistant|编程助手"],
    "code forge commit stack lint merge branch kernel patch byte",
    "ai coding assistant|ai编程助手;code review ai|ai代码审查;ai code generator|ai代码生成;unit test generator|单元测试生成;sql generator|sql生成器;vibe coding|氛围编程",
    "repository-wide edits|全仓库修改;review comments|代码审查意见;test generation|测试生成;terminal agent|终端智能体;self-hosted runners|自托管运行器;refactoring plans|重构计划",
    "developers|开发者;small engineering teams|小型研发团队;open-source maintainers|开源维护者;large codebases|大型代码库团队",
  ),
  sector(
    "writing",
    ["Writing|写作", "writing tool|写作工具"],
    "quill ink draft prose page script verse margin stanza nib",
    "ai writer|ai写作;paraphrasing tool|改写工具;grammar checker|语法检查;essay writer|作文生成;ai humanizer|ai降重;summary generator|摘要生成",
    "tone presets|语气预设;citation check|引文核对;long-document memory|长文记忆;plagiarism report|查重报告;team style guides|团队文风指南;outline mode|大纲模式",
    "bloggers|博客作者;students|学生;newsrooms|编辑部;non-native writers|非母语写作者",
  ),
  sector(
    "image-generation",
    ["Image Generation|图像生成", "image generator|图像生成工具"],
    "pixel canvas palette sketch hue lens mosaic pigment easel tint",
    "ai image generator|ai绘画;background remover|抠图;photo enhancer|图片变清晰;ai headshot|ai证件照;logo generator|logo生成;image upscaler|图片放大",
    "style references|风格参考;inpainting|局部重绘;vector export|矢量导出;batch generation|批量生成;transparent backgrounds|透明背景;layered files|分层文件",
    "designers|设计师;online shops|电商卖家;illustrators|插画师;photographers|摄影师",
  ),
  sector(
    "music",
    ["Music|音乐", "music generator|音乐生成工具"],
    "chord beat tune lyre opus refrain tempo lilt octave ballad",
    "ai music generator|ai作曲;ai song maker|ai写歌;vocal remover|人声分离;lyrics generator|歌词生成;beat maker|节拍制作;royalty free music|免版权音乐",
    "stems export|分轨导出;branching songs|歌曲分支续写;vocal removal|人声消除;lyrics editor|歌词编辑器;mastering|母带处理;loop library|循环乐段库",
    "songwriters|词曲作者;video creators|视频创作者;game studios|游戏工作室;hobby musicians|音乐爱好者",
  ),
  sector(
    "chatbots",
    ["Chat Assistants|聊天助手", "chat assistant|聊天助手"],
    "chat mate talk parley banter wit muse pal oracle chime",
    "ai chat|ai聊天;ai assistant|ai助手;chat with pdf|pdf对话;ai companion|ai陪伴;character chat|角色聊天;ask ai|问ai",
    "memory across chats|跨对话记忆;file uploads|文件上传;group chats|群聊;custom personas|自定义角色;web search|联网搜索;voice mode|语音模式",
    "everyone|所有人;curious minds|好奇的人;busy people|忙碌人士;students|学生",
  ),
  sector(
    "meeting-notes",
    ["Meeting Notes|会议纪要", "meeting assistant|会议助手"],
    "minutes memo recap scribe notes agenda tally digest docket jot",
    "ai meeting notes|会议纪要;meeting transcription|会议转写;ai note taker|ai记录;lecture notes ai|课堂笔记;call summary|通话摘要;audio to text|录音转文字",
    "speaker names|说话人识别;action items|待办提取;calendar import|日历导入;CRM sync|CRM同步;live captions|实时字幕;recording without a bot|无机器人录制",
    "remote teams|远程团队;sales teams|销售团队;consultants|咨询顾问;students|学生",
  ),
  sector(
    "design",
    ["Design|设计", "design tool|设计工具"],
    "grid layout shape form vector bezel kerning serif studio bevel",
    "ai website builder|ai建站;ui design ai|ai界面设计;ai presentation maker|ai生成ppt;poster maker|海报制作;interior design ai|ai室内设计;mockup generator|样机生成",
    "brand kits|品牌套件;slides from an outline|大纲生成幻灯片;component export|组件导出;responsive preview|响应式预览;shared libraries|共享资源库;comments|批注",
    "startups|创业团队;freelance designers|自由设计师;product teams|产品团队;small businesses|小企业",
  ),
  sector(
    "marketing",
    ["Marketing|营销", "marketing assistant|营销助手"],
    "reach bloom funnel buzz pitch lift beacon brand signal crest",
    "ai seo tool|ai seo工具;ad copy generator|广告文案生成;social media scheduler|社交媒体排期;email generator|邮件生成;product description generator|商品描述生成;keyword research tool|关键词工具",
    "campaign calendar|活动日历;brand voice|品牌语调;A/B copy tests|文案A/B测试;bulk product texts|批量商品文案;ad previews|广告预览;competitor alerts|竞品提醒",
    "small marketing teams|小型营销团队;agencies|代理商;online shops|电商卖家;founders|创业者",
  ),
  sector(
    "customer-support",
    ["Customer Support|客户服务", "support agent|客服机器人"],
    "desk answer harbor ticket care relay assist triage helm hail",
    "ai customer service|ai客服;ai chatbot for website|网站客服机器人;helpdesk ai|工单系统;ai phone agent|ai电话客服;knowledge base ai|知识库ai;live chat software|在线客服",
    "ticket triage|工单分流;answers with sources|带出处的回答;phone agent|电话客服;handover to people|转人工;macro suggestions|快捷回复建议;satisfaction reports|满意度报告",
    "online shops|电商卖家;support teams|客服团队;software companies|软件公司;banks|银行",
  ),
  sector(
    "education",
    ["Education|教育", "learning tool|学习工具"],
    "tutor study lesson scholar primer quiz cram syllabus campus pupil",
    "ai homework helper|作业辅导;ai math solver|ai解题;flashcard maker|记忆卡片;ai tutor|ai家教;language learning ai|ai学外语;quiz generator|出题工具",
    "step-by-step hints|分步提示;spaced repetition|间隔复习;class dashboards|班级看板;handwriting input|手写输入;exam mode|考试模式;lesson plans|教案生成",
    "students|学生;teachers|教师;parents|家长;language learners|外语学习者",
  ),
  sector(
    "data-analysis",
    ["Data Analysis|数据分析", "data analyst|数据分析工具"],
    "query chart metric cube pivot ledger table plot matrix axis",
    "ai data analysis|ai数据分析;excel ai|ai表格;chart maker|图表生成;csv to dashboard|csv生成看板;ai sql|自然语言查询;forecasting tool|预测工具",
    "questions in plain words|自然语言提问;scheduled reports|定时报告;spreadsheet add-on|表格插件;forecasts|预测;data cleaning|数据清洗;warehouse connectors|数仓连接器",
    "analysts|分析师;finance teams|财务团队;small companies|小企业;product managers|产品经理",
  ),
  sector(
    "search-and-research",
    ["Search & Research|搜索与研究", "research engine|研究搜索引擎"],
    "seek trace scout probe quest index delve atlas citation archive",
    "ai search engine|ai搜索;research assistant ai|科研助手;literature review ai|文献综述;ai answer engine|ai问答;paper summarizer|论文总结;fact checker|事实核查",
    "citations|引用出处;deep research reports|深度研究报告;paper library|文献库;saved searches|搜索订阅;source filters|来源筛选;shared collections|共享合集",
    "researchers|研究人员;students|学生;journalists|记者;analysts|分析师",
  ),
  sector(
    "translation",
    ["Translation|翻译", "translator|翻译工具"],
    "lingua glossa tongue idiom dialect ferry bridge babel phrase lexis",
    "ai translator|ai翻译;document translation|文档翻译;subtitle translator|字幕翻译;live translation|实时翻译;manga translator|漫画翻译;pdf translator|pdf翻译",
    "glossaries|术语表;layout-preserving PDF|保留排版的PDF;live captions in two languages|双语实时字幕;formality control|语体控制;translation memory|翻译记忆;offline mode|离线模式",
    "travellers|旅行者;publishers|出版社;export companies|外贸企业;freelance translators|自由译者",
  ),
  sector(
    "automation-agents",
    ["Automation & Agents|自动化与智能体", "automation agent|自动化智能体"],
    "flow pilot agent loop trigger runner cog swarm dispatch lever",
    "ai agent builder|智能体搭建;workflow automation|流程自动化;browser automation ai|浏览器自动化;web scraper ai|ai爬虫;ai workflow|ai工作流;rpa ai|智能rpa",
    "visual builder|可视化编排;approval steps|人工审批;browser control|浏览器操作;scheduled runs|定时运行;error replay|错误回放;secrets vault|密钥保险库",
    "operations teams|运营团队;small companies|小企业;developers|开发者;agencies|代理商",
  ),
  sector(
    "healthcare",
    ["Healthcare|医疗健康", "health assistant|健康助手"],
    "medic vital clinic balm pulse remedy tonic mend ward aster",
    "ai medical scribe|ai病历;symptom checker|症状自查;ai therapy|ai心理咨询;meal planner ai|ai食谱;ai fitness coach|ai健身教练;sleep tracker ai|睡眠分析",
    "visit summaries|就诊摘要;medication reminders|用药提醒;coding suggestions|诊断编码建议;patient letters|患者信函;meal photos|拍照记饮食;wearables import|穿戴设备导入",
    "clinics|诊所;doctors|医生;patients|患者;fitness coaches|健身教练",
  ),
  sector(
    "legal-and-finance",
    ["Legal & Finance|法律与金融", "legal and finance assistant|法务财务助手"],
    "clause brief counsel deed audit mint vault treaty tithe notary",
    "ai contract review|合同审查;ai lawyer|ai法律咨询;ai bookkeeping|ai记账;invoice scanner|发票识别;ai stock analysis|ai选股;tax assistant ai|报税助手",
    "clause library|条款库;redlining|修订标注;receipt capture|票据采集;bank import|银行流水导入;risk scores|风险评分;audit trail|审计记录",
    "law firms|律师事务所;accountants|会计师;freelancers|自由职业者;small companies|小企业",
  ),
];
